"""What leaves a training run: released weights, ONNX files."""
