import { readMessages } from './says-too-long.ts';
import type { ProviderState } from './service-error.ts';

/** What is paid for is used up: OpenAI, Anthropic, DeepSeek, OpenRouter. */
const quota = /insufficient[_ ](?:quota|balance|credits|funds)|exceeded your current quota|credit balance/i;
/** A 403 may also be about the text: then it says nothing of these. */
const key = /api[_ -]?key|credential|permission|unauthorized|not authorized|country|region/i;
const failing = new Set([502, 503, 529]);

/** The state of a provider that responds with such an error; undefined if another call may well succeed. */
export function providerState(status: number, body: string): ProviderState['state'] | undefined {
  const says = (phrases: RegExp) => readMessages(body).some((message) => phrases.test(message.slice(0, 1_000)));
  if (status === 402 || ((status === 429 || status === 403) && says(quota))) return 'quota';
  if (status === 429) return 'limited';
  if (status === 401 || (status === 403 && says(key))) return 'refused';
  return failing.has(status) ? 'failing' : undefined;
}
