/**
 * Messages of servers that refuse a text as too long: OpenAI, vLLM, Ollama, llama.cpp, Text Embeddings Inference. A rate limit has another
 * status.
 */
const refusal = {
  statuses: [400, 413, 422],
  phrases: /context[ _](?:length|size|window)|too large to process|must have less than \d+ (?:tokens|characters)/i,
};

/** llama.cpp responds 500. Its message for a context that other requests have filled has none of these phrases. */
const failure = { statuses: [500], phrases: /too large to process|larger than the max context size/i };

/** Servers that quote the document in their message do so at its end. */
const messageCharacters = 1_000;

/** The fields in which servers report an error. Other fields hold the request, and so the document: FastAPI returns it as `input`. */
const messageFields = ['error', 'message', 'detail', 'msg', 'code', 'type'];
const deepestMessage = 5;

/** Whether a remote model refuses a request because a text has too many tokens, so that a retry fails again. */
export function saysTooLong(status: number, body: string): boolean {
  const messages = readMessages(body).map((message) => message.slice(0, messageCharacters));
  return [refusal, failure].some(({ statuses, phrases }) => statuses.includes(status) && messages.some((message) => phrases.test(message)));
}

/** The messages of an error, as servers report it. */
export function readMessages(body: string): string[] {
  try {
    return findMessages(JSON.parse(body));
  } catch {
    return [body];
  }
}

function findMessages(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth === deepestMessage) return [];
  const parts = Array.isArray(value) ? value : messageFields.map((name) => (value as Record<string, unknown>)[name]);
  return parts.flatMap((part) => findMessages(part, depth + 1));
}
