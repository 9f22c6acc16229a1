"""Data that processes of another job prepare: TensorFlow's tf.data service."""
