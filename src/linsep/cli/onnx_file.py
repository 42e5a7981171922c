"""A fitted linear classifier as an ONNX graph, in double precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from linsep.cli.model_file import LinearModel
from linsep.cli.output import writing
from linsep.input import InputError
from linsep.whole_files import whole_file

# Versions of the format, and of its set of operators, that runtimes since 2022 read.
IR_VERSION, OPERATORS = 8, 17


def save_onnx(model: LinearModel, path: Path) -> None:
    """Write a model as a graph from rows ``X`` to their ``label`` and ``scores``.

    Of two classes the scores are the decision value's negative and the decision value,
    so that in every case the largest one wins.
    """
    try:
        from onnx import TensorProto, helper, numpy_helper, save
    except ImportError as error:
        raise InputError(
            f"{path} must end in .json, got .onnx without onnx; install onnx, or save "
            "as JSON"
        ) from error

    classes = np.array(model.classes)
    if classes.dtype.kind == "U":
        classes = classes.astype(object)
    n_classes, n_features = len(classes), len(model.feature_names)
    coef, intercept = model.coef, model.intercept
    if n_classes == 2 and len(coef) == 1:
        coef, intercept = np.vstack([-coef, coef]), np.append(-intercept, intercept)
    constants = {"coef": coef.T.copy(), "intercept": intercept, "classes": classes}
    tensors = [numpy_helper.from_array(v, name) for name, v in constants.items()]
    nodes = [
        helper.make_node("MatMul", ["X", "coef"], ["products"]),
        helper.make_node("Add", ["products", "intercept"], ["scores"]),
        helper.make_node("ArgMax", ["scores"], ["chosen"], axis=1, keepdims=0),
        helper.make_node("Gather", ["classes", "chosen"], ["label"]),
    ]
    rows = helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["n", n_features])
    label = helper.make_tensor_value_info("label", tensors[-1].data_type, ["n"])
    scores = helper.make_tensor_value_info(
        "scores", TensorProto.DOUBLE, ["n", len(coef)]
    )
    graph = helper.make_graph(nodes, "linsep", [rows], [label, scores], tensors)
    operators = [helper.make_opsetid("", OPERATORS)]
    onnx = helper.make_model(graph, opset_imports=operators, ir_version=IR_VERSION)
    with writing(path), whole_file(path) as unfinished:
        save(onnx, str(unfinished), format="protobuf")
