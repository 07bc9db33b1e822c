/** What servers say that refuse a request: OpenAI, vLLM, Ollama, llama.cpp, Text Embeddings Inference. A rate limit has another status. */
const refusal = {
  statuses: [400, 413, 422],
  phrases: /context[ _](?:length|size|window)|too large to process|must have less than \d+ (?:tokens|characters)/i,
};

/** llama.cpp fails instead. That its context is full while it serves others is none of the text's fault. */
const failure = { statuses: [500], phrases: /too large to process|larger than the max context size/i };

/** Servers that quote the document do so at the end. */
const messageCharacters = 1_000;

/** Whether a remote model does not take a request because a text of it has too many tokens for the model: it will not take it the next time. */
export function saysTooLong(status: number, body: string): boolean {
  const message = body.slice(0, messageCharacters);
  return [refusal, failure].some(({ statuses, phrases }) => statuses.includes(status) && phrases.test(message));
}
