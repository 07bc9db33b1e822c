// Says that it has begun with a document or a text, and never ends with one that is `endless`.
import { serveTasks } from '../../../ai/sandbox/serve-tasks.ts';

function work(text: string): Promise<string> {
  if (text !== 'endless') return Promise.resolve(text);
  console.error('begun');
  return new Promise(() => {});
}

serveTasks(
  {
    extract: ({ body }: { body: Uint8Array }) => work(Buffer.from(body).toString()),
    summarize: ({ text }: { text: string }) => work(text),
  },
  async () => null,
);
