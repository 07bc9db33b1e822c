import { serveTasks } from '../../sandbox/serve-tasks.ts';
import { type EmbedOne, loadMinilm } from './model.ts';

let embedOne: EmbedOne | undefined;

// Entry of the processes that run the local sentence model.
serveTasks(
  {
    embed: async ({ text }: { text: string }) => {
      embedOne ??= await loadMinilm();
      return (await embedOne(text)).vector;
    },
  },
  async () => {
    try {
      embedOne = await loadMinilm();
      await embedOne('warm');
      return null;
    } catch (error) {
      const missing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
      if (missing) return 'its optional packages are not installed: npm install --include=optional';
      throw error;
    }
  },
);
