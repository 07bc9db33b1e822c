import { hasPermission, type Role, roles } from '../../../api/auth/permissions.ts';
import { type Access, keyPermissions, type Permission, permissions } from '../../../contract/access.ts';
import { routes } from '../../../contract/index.ts';
import type { AnyRoute } from '../../../contract/route.ts';

/** Where the page stands. */
export const permissionsFile = 'docs/permissions.md';

const needs: Partial<Record<Access, string>> = {
  public: 'nothing',
  'signed-in': 'a session',
  'api-key': 'an API key',
  member: 'membership',
  'platform-admin': 'a platform admin',
};

/** The page of roles, permissions and operations, made of the contract and the roles. */
export function permissionsPage(): string {
  const names = Object.keys(roles) as Role[];
  const held = permissions.map((permission) =>
    row(code(permission), ...names.map((name) => yes(hasPermission([name], permission))), ofKey(permission)),
  );
  return [
    '# Permissions',
    '',
    'Made by `npm run pages`. A member has the permissions of the role; an API key has those that it was given, as long as',
    'the member who is responsible for it has them, too. Without one the response is FORBIDDEN, with its name in the message.',
    'Platform admins have no permission in organizations of others.',
    '',
    '## Roles',
    ...table(['Permission', ...names, 'API key'], held),
    '',
    'Who invites, changes and removes members: [identity.md](identity.md#members).',
    '',
    '## Operations',
    '`POST /rpc/GROUP/NAME` takes the same as each request below.',
    '',
    ...table(['Operation', 'Request', 'Needs'], routes.map(describe)),
    '',
  ].join('\n');
}

const row = (...cells: string[]) => `| ${cells.join(' | ')} |`;
const code = (text: string) => `\`${text}\``;
const yes = (holds: boolean) => (holds ? 'yes' : '');

function table(heads: string[], rows: string[]): string[] {
  return [row(...heads), `|${'---|'.repeat(heads.length)}`, ...rows];
}

function ofKey(permission: Permission): string {
  return yes((keyPermissions as readonly Permission[]).includes(permission));
}

function describe({ method, path, metadata: { operation, access } }: AnyRoute): string {
  const address = `/api/v1${path.replaceAll(/:(\w+)/g, '{$1}')}`;
  return row(code(operation), code(`${method} ${address}`), needs[access] ?? code(access));
}
