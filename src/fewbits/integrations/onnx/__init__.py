"""Encoders as ONNX models: codes without this package, and without Python."""

from fewbits.integrations.onnx._export import export_onnx

__all__ = ["export_onnx"]
