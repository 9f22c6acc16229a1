"""Benchmarks with TensorFlow, side by side with tf.distribute in one run.

    hvdx-bench --tensorflow [step] [options]
"""
