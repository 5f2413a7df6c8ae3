"""Building a BERT encoder as an ONNX graph, with pooling and normalisation, or a classifier.

Three graphs of the same function:

- **float**: ``input_ids``, ``attention_mask`` int64[batch, length] -> float32[batch, dimension].
- **half**: the same in 16-bit floats, for GPUs. Pooling, normalisation and the classifier stay in
  32 bits. One operator of onnxruntime is a whole attention, another adds and normalises. The mask
  must be ones, at least one, and then zeros.
- **int8**: ``input_ids`` int64[1, length] -> float32[1, dimension]. The batch is 1 by construction:
  activations are scaled over all texts of a run, so a second text would change the first one's
  vector. There is no mask, because one text needs no padding.

The int8 linears store a weight column as ``round(127 w / max|w|)`` and scale activations at run
time. On MiniLM the plain scheme gives vectors with a mean cosine of 0.992 to the float vectors;
this scheme gives 0.999 at nearly the same speed. The embedding table has 8 bits too: a row is
quantised like a weight column, and becomes a row of floats before anything is added. The scheme:

- the inputs of ``query_key_value`` and ``intermediate`` come from a norm and have a few channels
  ten times larger than the rest, which would take all 8 bits. Each channel is divided by
  its ``spread`` and the weight's row is multiplied by it, which leaves the product as it is
  (SmoothQuant, Xiao et al., 2023, equation 4);
- the input of ``output`` is the result of a GELU, which is never below -0.17. So 0.17 is added, and
  all 255 steps are positive. There is one scale a token, since a few tokens are far larger.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from recollex_engine.models.bert import Bert, Classifier, Floats, Layer, Linear, Norm
from recollex_engine.models.description import Pooling

_RUNTIME = "com.microsoft"  # onnxruntime's own operators
_GELU_LIFT = np.float32(0.17)  # GELU's minimum is -0.16997, at -0.7518
_STEPS = np.float32(127)
_MASKED = np.float32(-10000)


def float_graph(
    bert: Bert, pooling: Pooling, normalise: bool, taps: bool = False, half: bool = False
) -> bytes:
    """Return the serialised float graph of ``bert``, with ``half`` in 16-bit floats.

    With the pooling "tokens" a vector for each token is the output: float32[batch, length,
    dimension]. With ``taps``, the inputs of each layer's ``query_key_value`` and ``intermediate``
    are outputs too, after the vector, in that order, layer by layer: float32[batch, length,
    dimension].
    """
    builder = _HalfBuilder() if half else _FloatBuilder()
    hidden, tapped = builder.encode(bert, {})
    hidden = builder.single(hidden)
    tokens = builder.unsqueeze(builder.op("Cast", "attention_mask", to=TensorProto.FLOAT), 2)
    if pooling == "tokens":
        vector = hidden
    elif pooling == "cls":
        vector = builder.first(hidden)
    else:
        total = builder.op(
            "ReduceSum", builder.op("Mul", hidden, tokens), builder.axes(1), keepdims=0
        )
        vector = builder.op(
            "Div", total, builder.op("ReduceSum", tokens, builder.axes(1), keepdims=0)
        )
    if normalise:
        vector = builder.normalised(vector)
    shape = ["batch", "length"]
    return builder.model(
        {"input_ids": shape, "attention_mask": shape}, [vector, *(tapped if taps else [])]
    )


def int8_graph(
    bert: Bert, pooling: Pooling, normalise: bool, spreads: Mapping[int, Floats], signed: bool
) -> bytes:
    """Return the serialised int8 graph of ``bert``, the pooling as in `float_graph`.

    ``spreads[2n]`` and ``spreads[2n + 1]``, float32[dimension], are those of layer n's
    ``query_key_value`` and ``intermediate``. They should be powers of two: dividing by one of
    them rounds nothing. ``signed``: whether weights are stored as int8, otherwise as uint8 with a
    zero point of 128; both are the same numbers. See `processor.saturates`.
    """
    builder = _Int8Builder(signed)
    hidden, _ = builder.encode(bert, spreads)
    if pooling == "tokens":
        vector = hidden
    elif pooling == "cls":
        vector = builder.first(hidden)
    else:
        vector = builder.op("ReduceMean", hidden, builder.axes(1), keepdims=0)
    if normalise:
        vector = builder.normalised(vector)
    return builder.model({"input_ids": [1, "length"]}, [vector])


def float_score_graph(classifier: Classifier, taps: bool = False, half: bool = False) -> bytes:
    """Return the serialised float graph of a cross-encoder, the options as in `float_graph`.

    ``input_ids``, ``attention_mask``, ``token_type_ids`` int64[batch, length] -> float32[batch],
    a number without bounds.
    """
    builder = _HalfBuilder() if half else _FloatBuilder()
    hidden, tapped = builder.encode(classifier.bert, {}, "token_type_ids")
    shape = ["batch", "length"]
    return builder.model(
        {"input_ids": shape, "attention_mask": shape, "token_type_ids": shape},
        [builder.score(hidden, classifier), *(tapped if taps else [])],
    )


def int8_score_graph(classifier: Classifier, spreads: Mapping[int, Floats], signed: bool) -> bytes:
    """Return the serialised int8 graph of a cross-encoder, the arguments as in `int8_graph`.

    ``input_ids``, ``token_type_ids`` int64[1, length] -> float32[1]. The head stays in floats.
    """
    builder = _Int8Builder(signed)
    hidden, _ = builder.encode(classifier.bert, spreads, "token_type_ids")
    shape: list[int | str] = [1, "length"]
    return builder.model(
        {"input_ids": shape, "token_type_ids": shape}, [builder.score(hidden, classifier)]
    )


class _FloatBuilder:
    """A graph under construction: nodes, constants, and the names that connect them."""

    floats = TensorProto.FLOAT

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: NDArray[np.generic] | np.generic) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(
            numpy_helper.from_array(np.ascontiguousarray(value).reshape(np.shape(value)), name)
        )
        return name

    def single(self, hidden: str) -> str:
        """Return the hidden states in 32 bits; all later nodes are in 32 bits too."""
        return hidden

    def normalised(self, vector: str) -> str:
        return self.op("LpNormalization", vector, axis=-1, p=2)

    def axes(self, *numbers: int) -> str:
        return self.constant(np.array(numbers, dtype=np.int64))

    def ops(
        self, outputs: int, kind: str, *inputs: str, domain: str = "", **attributes: Any
    ) -> list[str]:
        names = [f"v{len(self.nodes)}_{n}" for n in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        return self.ops(1, kind, *inputs, domain=domain, **attributes)[0]

    def unsqueeze(self, value: str, *numbers: int) -> str:
        return self.op("Unsqueeze", value, self.axes(*numbers))

    def first(self, hidden: str) -> str:
        return self.op("Gather", hidden, self.constant(np.int64(0)), axis=1)

    def table(self, words: Floats) -> str:
        return self.op("Gather", self.constant(words), "input_ids", axis=0)

    def linear(self, x: str, part: Linear) -> str:
        return self.op(
            "Add", self.op("MatMul", x, self.constant(part.weight)), self.constant(part.bias)
        )

    def linear_of_norm(self, x: str, part: Linear, spread: Floats | None) -> str:
        return self.linear(x, part)

    def linear_of_gelu(self, x: str, part: Linear) -> str:
        return self.linear(x, part)

    def mask(self) -> str | None:
        """Return what is added to attention scores: nothing for a token, much less for padding."""
        mask = self.op("Cast", "attention_mask", to=self.floats)
        away = self.op("Sub", self.constant(np.float32(1)), mask)
        return self.unsqueeze(self.op("Mul", away, self.constant(_MASKED)), 1, 2)

    def score(self, hidden: str, classifier: Classifier) -> str:
        """Add the head: one number for each first token."""
        first = self.single(self.first(hidden))
        pooled = self.op("Tanh", _FloatBuilder.linear(self, first, classifier.pool))
        score = _FloatBuilder.linear(self, pooled, classifier.classify)
        return self.op("Squeeze", score, self.axes(1))

    def norm(self, x: str, part: Norm) -> str:
        scale = self.constant(part.scale)
        shift = self.constant(part.shift)
        return self.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=part.epsilon)

    def encode(
        self, bert: Bert, spreads: Mapping[int, Floats], types: str | None = None
    ) -> tuple[str, list[str]]:
        """Return the last hidden states, and the input of each linear that follows a norm."""
        mask = self.mask()
        x = self.embed(bert, types)
        tapped = []
        for n, layer in enumerate(bert.layers):
            tapped.append(x)
            seen = self.attend(x, layer, bert.heads, mask, spreads.get(2 * n))
            x = self.joined(self.linear, seen, layer.attention_output, x, layer.attention_norm)
            tapped.append(x)
            inner = self.op(
                "Gelu", self.linear_of_norm(x, layer.intermediate, spreads.get(2 * n + 1))
            )
            x = self.joined(self.linear_of_gelu, inner, layer.output, x, layer.output_norm)
        return x, tapped

    def embed(self, bert: Bert, types: str | None) -> str:
        length = self.op("Shape", "input_ids", start=1, end=2)
        zero = self.axes(0)
        positions = self.op("Slice", self.constant(bert.positions), zero, length, zero)
        embedded = self.op("Add", self.table(bert.words), positions)
        if types is not None:
            typed = self.op("Gather", self.constant(bert.types), types, axis=0)
            embedded = self.op("Add", embedded, typed)
        return self.norm(embedded, bert.embedding_norm)

    def joined(
        self, linear: Callable[[str, Linear], str], y: str, part: Linear, x: str, norm: Norm
    ) -> str:
        """Add ``norm(linear(y) + x)``."""
        return self.norm(self.op("Add", linear(y, part), x), norm)

    def attend(
        self, x: str, layer: Layer, heads: int, mask: str | None, spread: Floats | None
    ) -> str:
        """Add ``softmax(q k') v`` for each head; the query is already scaled."""
        mixed = self.linear_of_norm(x, layer.query_key_value, spread)
        dimension = len(layer.attention_output.weight)
        shape = self.constant(np.array([0, 0, 3 * heads, dimension // heads]))
        split = self.op("Transpose", self.op("Reshape", mixed, shape), perm=[0, 2, 1, 3])
        query, key, value = self.ops(
            3, "Split", split, self.constant(np.array([heads] * 3)), axis=1
        )
        scores = self.op("MatMul", query, self.op("Transpose", key, perm=[0, 1, 3, 2]))
        if mask is not None:
            scores = self.op("Add", scores, mask)
        seen = self.op("MatMul", self.op("Softmax", scores, axis=-1), value)
        back = self.constant(np.array([0, 0, dimension]))
        return self.op("Reshape", self.op("Transpose", seen, perm=[0, 2, 1, 3]), back)

    def model(self, inputs: Mapping[str, Sequence[int | str]], outputs: list[str]) -> bytes:
        drawn = helper.make_graph(
            self.nodes,
            "encoder",
            [helper.make_tensor_value_info(n, TensorProto.INT64, s) for n, s in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            self.constants,
        )
        versions = [helper.make_opsetid("", 20), helper.make_opsetid(_RUNTIME, 1)]
        model = helper.make_model(drawn, opset_imports=versions, ir_version=9)
        return bytes(model.SerializeToString())


class _HalfBuilder(_FloatBuilder):
    """The same graph in 16-bit floats up to the last hidden states, of fused operators."""

    floats = TensorProto.FLOAT16

    def constant(self, value: NDArray[np.generic] | np.generic) -> str:
        if self.floats == TensorProto.FLOAT16 and value.dtype == np.float32:
            value = value.astype(np.float16)
        return super().constant(value)

    def single(self, hidden: str) -> str:
        self.floats = TensorProto.FLOAT
        return self.op("Cast", hidden, to=TensorProto.FLOAT)

    def normalised(self, vector: str) -> str:
        """Normalise without LpNormalization, an operator that devices lack."""
        squares = self.op("ReduceSum", self.op("Mul", vector, vector), self.axes(1), keepdims=1)
        return self.op("Div", vector, self.op("Sqrt", squares))

    def mask(self) -> str:
        """Return the number of tokens of each text."""
        mask = self.op("Cast", "attention_mask", to=TensorProto.INT32)
        return self.op("ReduceSum", mask, self.axes(1), keepdims=0)

    def attend(
        self, x: str, layer: Layer, heads: int, mask: str | None, spread: Floats | None
    ) -> str:
        """Add the attention of all heads as one operator, which scales the query itself."""
        part = layer.query_key_value
        dimension = len(layer.attention_output.weight)
        scales = np.ones(3 * dimension, np.float32)
        scales[:dimension] = np.sqrt(dimension // heads)
        weight = self.constant(part.weight * scales)
        bias = self.constant(part.bias * scales)
        return self.op("Attention", x, weight, bias, mask or "", domain=_RUNTIME, num_heads=heads)

    def joined(
        self, linear: Callable[[str, Linear], str], y: str, part: Linear, x: str, norm: Norm
    ) -> str:
        product = self.op("MatMul", y, self.constant(part.weight))
        parts = map(self.constant, (norm.scale, norm.shift, part.bias))
        return self.op(
            "SkipLayerNormalization", product, x, *parts, domain=_RUNTIME, epsilon=norm.epsilon
        )


class _Int8Builder(_FloatBuilder):
    """The same graph with 8-bit linears, whose weights are ``signed`` or not."""

    def __init__(self, signed: bool) -> None:
        super().__init__()
        self._signed = signed

    def mask(self) -> None:
        return None

    def table(self, words: Floats) -> str:
        columns, scales = quantise(words.T)
        rows = self.op("Gather", self.constant(columns.T), "input_ids", axis=0)
        scale = self.op("Gather", self.constant(scales[:, None]), "input_ids", axis=0)
        return self.op("Mul", self.op("Cast", rows, to=TensorProto.FLOAT), scale)

    def product(
        self,
        x: str,
        scale: str,
        zero: str,
        columns: NDArray[np.int8],
        scales: Floats,
        bias: Floats | None,
    ) -> str:
        zeros = np.zeros(len(scales), np.int8)
        held = (columns, zeros) if self._signed else (_unsigned(columns), _unsigned(zeros))
        weights, weight_zeros = map(self.constant, held)
        inputs = [x, weights, scale, self.constant(scales), zero, weight_zeros]
        if bias is not None:
            inputs.append(self.constant(bias))
        return self.op("MatMulIntegerToFloat", *inputs, domain=_RUNTIME)

    def linear(self, x: str, part: Linear) -> str:
        quantised, scale, zero = self.ops(3, "DynamicQuantizeLinear", x)
        columns, scales = quantise(part.weight)
        return self.product(quantised, scale, zero, columns, scales, part.bias)

    def linear_of_norm(self, x: str, part: Linear, spread: Floats | None) -> str:
        if spread is None:
            return self.linear(x, part)
        evened = self.op("Mul", x, self.constant(1 / spread))
        return self.linear(evened, Linear(part.weight * spread[:, None], part.bias))

    def linear_of_gelu(self, x: str, part: Linear) -> str:
        columns, scales = quantise(part.weight)
        lifted = self.op("Add", x, self.constant(_GELU_LIFT))
        most = self.op("ReduceMax", lifted, self.axes(2), keepdims=1)
        step = self.op("Mul", most, self.constant(np.float32(1 / 255)))
        one = self.constant(np.float32(1))
        zero = self.constant(np.uint8(0))
        quantised = self.op("QuantizeLinear", self.op("Div", lifted, step), one, zero)
        product = self.op("Mul", self.product(quantised, one, zero, columns, scales, None), step)
        lift = _GELU_LIFT * (columns.sum(axis=0, dtype=np.int64) * scales)
        return self.op("Add", product, self.constant((part.bias - lift).astype(np.float32)))


def _unsigned(numbers: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Return ``numbers`` + 128."""
    return (numbers.astype(np.int16) + 128).astype(np.uint8)


def quantise(weight: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Return ``columns`` int8[I, O] and ``scales`` float32[O]; their product is near ``weight``.

    Equation: ``scales[o] = max_i |weight[i, o]| / 127``, ``columns = round(weight / scales)``;
    a column of zeros has scale 1.
    """
    largest = np.abs(weight).max(axis=0)
    scales = np.where(largest > 0, largest / _STEPS, np.float32(1)).astype(np.float32)
    return np.rint(weight / scales).astype(np.int8), scales
