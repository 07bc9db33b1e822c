import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from './stack-types.ts';

/** The one screen that a start ends with: where everything is, how to sign up and in, how to stop. Holds no secret. */
export function welcome(stack: Stack, version: string): string {
  const api = stack.env.API_URL ?? stack.apiUrl;
  const places: [string, string | undefined][] = [
    ['API', `${api}/api/v1`],
    ['Reference', `${api}/docs`],
    ['OpenAPI', `${api}/api/v1/openapi.json`],
    ['Temporal UI', stack.env.TEMPORAL_UI_URL],
    ['Data', stack.dataDir],
    // As root, below a directory that only root may enter, it lies elsewhere.
    ['Postgres', findOtherPlace(join(stack.dataDir, 'postgres'))],
    ['Logs', `${stack.dataDir}/logs`],
    ['Jobs', stack.env.WORKER_ENABLED === 'false' ? 'wait: WORKER_ENABLED=false, so no worker runs here' : undefined],
  ];
  return `
Sheaf ${version} is running.

${places.flatMap(([name, place]) => (place === undefined ? [] : [`  ${name.padEnd(13)}${place}`])).join('\n')}

Sign up (sign in later with /sign-in/email and the same body without the name):

  TOKEN=$(curl -sS -o /dev/null -D - ${api}/api/auth/sign-up/email \\
    -H 'Content-Type: application/json' \\
    -d '{"name":"Ada","email":"ada@example.com","password":"a long password"}' |
    tr -d '\\r' | sed -n 's/^set-auth-token: //p')

  curl -sS ${api}/api/v1/me -H "Authorization: Bearer $TOKEN"

See everything at work: npm run demo. Stop: Ctrl-C.
`;
}

function findOtherPlace(path: string): string | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? realpathSync(path) : undefined;
}
