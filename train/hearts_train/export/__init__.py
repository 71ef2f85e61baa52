"""Networks leave a training run: released weights, ONNX files."""
