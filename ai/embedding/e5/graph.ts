import { type Node, types, writeModel } from './onnx-format.ts';
import { type Blocks, blockBytes, blockSize, halfFloat, type Weights } from './weights.ts';

/**
 * The encoder as a model in ONNX's format: from the vectors of the tokens of one text, `tokens` (1 × tokens × width), to their mean after all
 * layers, `mean` (1 × width). The matrices stay as small as they are, for operators that ONNX Runtime has for that.
 */
export function writeEncoder(weights: Weights): Buffer {
  const { width, inner, heads, layers, epsilon } = weights;
  const nodes: Node[] = [];
  const constants: Parameters<typeof writeModel>[0]['constants'] = [];
  const add = (node: Omit<Node, 'domain'>, domain = 'com.microsoft') => {
    nodes.push({ ...node, domain });
    return node.output;
  };
  const constant = (name: string, dims: number[], values: Float32Array | Uint8Array | BigInt64Array) => {
    const type = values instanceof Float32Array ? types.float : values instanceof Uint8Array ? types.byte : types.int64;
    constants.push({ name, type, dims, data: new Uint8Array(values.buffer, values.byteOffset, values.byteLength) });
    return name;
  };
  const vector = (name: string) => {
    const values = weights.vector(name);
    return constant(name, [values.length], values);
  };
  const multiply = (input: string, name: string, rows: number, columns: number) => {
    const { numbers, scales } = repack(weights.matrix(`${name}.w`, rows, columns));
    const blocks = columns / blockSize;
    const matrix = constant(`${name}.w`, [rows, blocks, blockSize / 2], numbers);
    const inputs = [input, matrix, constant(`${name}.scales`, [rows * blocks], scales), '', '', vector(`${name}.b`)];
    // The level lets it multiply whole numbers of eight bits.
    const ints = { K: columns, N: rows, bits: 4, block_size: blockSize, accuracy_level: 4 };
    return add({ operator: 'MatMulNBits', inputs, output: `${name}.product`, ints });
  };
  const addNormalized = (name: string, one: string, other: string) => {
    const inputs = [one, other, vector(`${name}.w`), vector(`${name}.b`)];
    return add({ operator: 'SkipLayerNormalization', inputs, output: name, floats: { epsilon } });
  };
  const start = ['tokens', vector('emb.ln.w'), vector('emb.ln.b')];
  let at = add({ operator: 'LayerNormalization', inputs: start, output: 'start', ints: { axis: -1 }, floats: { epsilon } }, '');
  for (let layer = 0; layer < layers; layer += 1) {
    const of = (name: string) => `l${layer}.${name}`;
    const inputs = ['q', 'k', 'v'].map((name) => multiply(at, of(name), width, width));
    const seen = add({ operator: 'MultiHeadAttention', inputs, output: of('seen'), ints: { num_heads: heads } });
    const attended = addNormalized(of('aln'), at, multiply(seen, of('ao'), width, width));
    const widened = add({ operator: 'Gelu', inputs: [multiply(attended, of('fi'), inner, width)], output: of('widened') });
    at = addNormalized(of('oln'), attended, multiply(widened, of('fo'), width, inner));
  }
  const axis = constant('axis', [1], BigInt64Array.of(1n));
  add({ operator: 'ReduceMean', inputs: [at, axis], output: 'mean', ints: { keepdims: 0 } }, '');
  const [input, output] = [
    { name: 'tokens', dims: [1, 'length', width] },
    { name: 'mean', dims: [1, width] },
  ];
  return writeModel({ nodes, constants, input, output });
}

/** The same numbers as the operator wants them: neighbours in a byte, and the scales apart. */
function repack({ rows, columns, bytes }: Blocks): { numbers: Uint8Array; scales: Float32Array } {
  const blocks = (rows * columns) / blockSize;
  const half = blockSize / 2;
  const numbers = new Uint8Array(blocks * half);
  const scales = new Float32Array(blocks);
  for (let block = 0; block < blocks; block += 1) {
    const at = block * blockBytes;
    scales[block] = halfFloat(bytes.readUInt16LE(at));
    const numberAt = (place: number) => {
      const both = bytes[at + 2 + (place % half)] as number;
      return place < half ? both & 0x0f : both >> 4;
    };
    for (let pair = 0; pair < half; pair += 1) numbers[block * half + pair] = numberAt(2 * pair) | (numberAt(2 * pair + 1) << 4);
  }
  return { numbers, scales };
}
