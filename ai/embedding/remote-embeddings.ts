import { z } from 'zod';
import type { RemoteEmbedModel } from '../../base/config/remote-models.ts';
import { askRemote } from '../remote-model.ts';
import { ServiceError } from '../service-error.ts';
import { type EmbedModel, usualChunk } from './embed-models.ts';

const response = z.object({ data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()).min(1) })) });

/**
 * A model behind an endpoint of the OpenAI protocol, asked with at most `batch` texts at a time, one request after another.
 * Throws ServiceError 413 for a text that is too long for the model; 502 for any other failure, and for a response without one vector of
 * the expected length for each text. `shortens`: whether it takes `dimensions`, by default if the operator has named a number.
 */
export function createRemoteModel(remote: RemoteEmbedModel, shortens = remote.dimensions !== undefined): EmbedModel {
  const { model: name, dimensions: own, chunkCharacters, batch } = remote;
  const model: EmbedModel = {
    name,
    dimensions: own ?? null,
    chunkCharacters,
    textsPerCall: Math.min(usualChunk.textsPerCall, batch),
    async embed(texts, signal, dimensions) {
      const vectors: number[][] = [];
      const asked = shortens ? (dimensions ?? own) : undefined;
      for (let start = 0; start < texts.length; start += batch) {
        vectors.push(...(await embedBatch(remote, texts.slice(start, start + batch), signal, asked)));
      }
      checkLengths(vectors, dimensions ?? own);
      if (dimensions === undefined) model.dimensions = vectors[0]?.length ?? null;
      return vectors;
    },
  };
  return model;
}

async function embedBatch(
  remote: RemoteEmbedModel,
  texts: string[],
  signal: AbortSignal,
  dimensions: number | undefined,
): Promise<number[][]> {
  // The protocol refuses an empty input.
  const input = texts.map((text) => text || ' ');
  const body = { input, encoding_format: 'float', ...(dimensions === undefined ? {} : { dimensions }) };
  const { data } = await askRemote(remote, '/embeddings', body, response, {
    role: 'embed',
    timeoutMs: remote.seconds * 1_000,
    signal,
    name: 'remote',
  });
  const vectors = new Map(data.map(({ index, embedding }) => [index, embedding]));
  if (data.length !== texts.length) throw unusable(`The remote model answered ${data.length} vectors for ${texts.length} texts.`);
  return texts.map((_, index) => {
    const vector = vectors.get(index);
    if (!vector) throw unusable(`The remote model answered no vector for text ${index}.`);
    return vector;
  });
}

function checkLengths(vectors: number[][], expected: number | undefined): void {
  const dimensions = expected ?? vectors[0]?.length;
  const other = vectors.find(({ length }) => length !== dimensions);
  if (other) throw unusable(`The remote model answered a vector of ${other.length} numbers instead of ${dimensions}.`);
}

function unusable(detail: string): ServiceError {
  return new ServiceError(502, 'remote_failed', 'The remote model could not serve the request.', { cause: new Error(detail) });
}
