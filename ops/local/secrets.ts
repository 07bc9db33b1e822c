import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const secretsSchema = z.object({ authSecret: z.string().min(32), serviceToken: z.string().min(32) });

/** The key of sessions and signed links, and the token of the AI service. */
export type Secrets = z.output<typeof secretsSchema>;

/** Reads `<dataDir>/secrets.json` (mode 0600), and makes it at the first start. Throws if the file exists but is not valid. */
export function keepSecrets(dataDir: string): Secrets {
  const file = join(dataDir, 'secrets.json');
  if (existsSync(file)) return readSecrets(file);
  const secrets = { authSecret: randomBytes(32).toString('hex'), serviceToken: randomBytes(32).toString('hex') };
  const unfinished = `${file}.new`;
  writeFileSync(unfinished, `${JSON.stringify(secrets, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
  return secrets;
}

function readSecrets(file: string): Secrets {
  try {
    return secretsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // The original error would quote the secrets.
    throw new Error(`${file} is not what this program wrote. Put it back, or delete it: then everybody has to sign in again.`);
  }
}
