"""What horovod.keras and horovod.tensorflow.keras have in common. Imports no framework.

Keras 3 on TensorFlow or PyTorch, and Keras 2 (tf_keras): what differs between the frameworks below
is in on_tensorflow.py and on_torch.py.
"""
