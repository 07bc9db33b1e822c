import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LocalModelName } from '../../base/config/local-models.ts';
import { embedText, localDimensions, localEmbedModel } from './embed-text.ts';

/** The index that a caller wants vectors for: one that documents have already. */
export interface WantedIndex {
  model: string;
  dimensions?: number | undefined;
}

/** Something that embeds texts. */
export interface EmbedModel {
  name: string;
  /** How many numbers its vectors have; null until it is known. */
  dimensions: number | null;
  /** Longer chunks are embedded in parts, of which the mean is taken, or at the provider's discretion; these are embedded whole. */
  chunkCharacters: number;
  /** How many texts a call should have, so that it ends in time. */
  textsPerCall: number;
  /** A vector for each text, all of one length. Throws ServiceError, or the signal's reason. */
  embed(texts: string[], signal: AbortSignal, dimensions?: number): Promise<number[][]>;
}

/** The default size of chunks, in characters; a model for short texts asks for less. */
export const usualChunk = { chunkCharacters: 1_200, textsPerCall: 32 };

/** The hashed bag of words, in this process. */
const hashModel: EmbedModel = {
  name: localEmbedModel,
  dimensions: localDimensions,
  ...usualChunk,
  async embed(texts, signal) {
    const vectors: number[][] = [];
    for (const text of texts) {
      vectors.push(embedText(text));
      // A long batch must not block other requests.
      if (vectors.length % 4 === 0) await nextTurn();
      signal.throwIfAborted();
    }
    return vectors;
  },
};

/** The models that run here, the chosen one first: the hash, which needs nothing, and the sentence model if it is started. */
export function orderLocalModels(chosen: LocalModelName, e5: EmbedModel | undefined): [EmbedModel, ...EmbedModel[]] {
  if (!e5) return [hashModel];
  return chosen === 'e5' ? [e5, hashModel] : [hashModel, e5];
}

/**
 * The model of the wanted index if it runs here, else the deployment's own, which is the first. The response names the model.
 */
export function pickModel(models: readonly [EmbedModel, ...EmbedModel[]], wanted: WantedIndex | undefined): EmbedModel {
  return models.find(({ name }) => name === wanted?.model) ?? models[0];
}
