import { serveTasks } from '../../sandbox/serve-tasks.ts';
import { type EmbedOne, loadE5 } from './model.ts';

const [, , file = ''] = process.argv;
let embedOne: EmbedOne;

// Entry of the processes that run the local sentence model.
serveTasks({ embed: ({ text }: { text: string }) => embedOne(text) }, async () => {
  try {
    embedOne = await loadE5(file);
    await embedOne('warm');
    return null;
  } catch (error) {
    return `its model cannot be loaded from MODELS_DIR: ${error instanceof Error ? error.message : error}`;
  }
});
