"""Accuracy of classes: by neighbours, linear models, categories and class codes."""

from fewbits.evaluation.classification._accuracy import (
    Accuracy,
    knn_accuracy,
    knn_predict,
    svm_accuracy,
)
from fewbits.evaluation.classification._calibration import (
    CalibrationError,
    calibration_error,
)
from fewbits.evaluation.classification._categories import (
    CategoryScores,
    category_scores,
)
from fewbits.evaluation.classification._decoding import decoding_accuracy, matching_bits
from fewbits.evaluation.classification._novel import novel_class_score

__all__ = [
    "Accuracy",
    "CalibrationError",
    "CategoryScores",
    "calibration_error",
    "category_scores",
    "decoding_accuracy",
    "knn_accuracy",
    "knn_predict",
    "matching_bits",
    "novel_class_score",
    "svm_accuracy",
]
