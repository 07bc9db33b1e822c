// Writes the messages of ONNX (`onnx.proto` of the project onnx), whose numbers of fields and types these are, as Protocol Buffers.

/** What a tensor is made of. */
export const types = { float: 1, byte: 2, int64: 7 };

interface Constant {
  name: string;
  type: number;
  dims: number[];
  data: Uint8Array;
}

/** An input or an output of floats; a dimension with a name has any length. */
interface Value {
  name: string;
  dims: (number | string)[];
}

interface Graph {
  nodes: Node[];
  constants: Constant[];
  input: Value;
  output: Value;
}

/** A model of one graph, with ONNX's own operators and those that ONNX Runtime adds. */
export function writeModel({ nodes, constants, input, output }: Graph): Buffer {
  const graph = [
    ...nodes.map((one) => bytesField(1, node(one))),
    textField(2, 'graph'),
    ...constants.map((one) => bytesField(5, tensor(one))),
    bytesField(11, value(input)),
    bytesField(12, value(output)),
  ];
  const uses = (domain: string, version: number) => bytesField(8, Buffer.concat([textField(1, domain), intField(2, version)]));
  return Buffer.concat([intField(1, 10), bytesField(7, Buffer.concat(graph)), uses('', 20), uses('com.microsoft', 1)]);
}

/** One step: an operator with its inputs, of which an empty one is left out. */
export interface Node {
  operator: string;
  /** Whose operator it is; ONNX's own if empty. */
  domain: string;
  inputs: string[];
  output: string;
  /** Whole numbers and others: a name says which an operator wants. */
  ints?: Record<string, number>;
  floats?: Record<string, number>;
}

function node({ operator, inputs, output, ints = {}, floats = {}, domain }: Node): Buffer {
  const named = [...inputs.map((input) => textField(1, input)), textField(2, output), textField(4, operator), textField(7, domain)];
  const attributes = [...Object.entries(ints).map((one) => int(...one)), ...Object.entries(floats).map((one) => float(...one))];
  return Buffer.concat([...named, ...attributes.map((attribute) => bytesField(5, attribute))]);
}

function int(name: string, value: number): Buffer {
  return Buffer.concat([textField(1, name), intField(3, value), intField(20, 2)]);
}

function float(name: string, value: number): Buffer {
  const bits = Buffer.alloc(4);
  bits.writeFloatLE(value);
  return Buffer.concat([textField(1, name), varint((2 << 3) | 5), bits, intField(20, 1)]);
}

function tensor({ name, type, dims, data }: Constant): Buffer {
  return Buffer.concat([...dims.map((dim) => intField(1, dim)), intField(2, type), textField(8, name), bytesField(9, data)]);
}

function value({ name, dims }: Value): Buffer {
  const shape = dims.map((dim) => bytesField(1, typeof dim === 'string' ? textField(2, dim) : intField(1, dim)));
  const type = Buffer.concat([intField(1, types.float), bytesField(2, Buffer.concat(shape))]);
  return Buffer.concat([textField(1, name), bytesField(2, bytesField(1, type))]);
}

function textField(field: number, text: string): Buffer {
  return bytesField(field, Buffer.from(text));
}

function bytesField(field: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);
}

function intField(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left > 0x7fn; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(left)]);
}
