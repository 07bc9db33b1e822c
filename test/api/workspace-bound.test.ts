import { expect } from 'chai';
import { sql } from 'kysely';
import { toWorkspace } from '../../api/presenters/workspace.ts';
import { maxPageBytes } from '../../domain/page.ts';
import { listWorkspaces } from '../../domain/workspaces/workspace.ts';
import { callOver } from '../support/transports.ts';
import { useApi } from '../support/use-api.ts';

const most = 5_000;
const free = 3;

describe('The workspaces of an organization', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' }, tenant: 'of each test' });

  /** Adds workspaces with the longest names, beside the one that is there. */
  async function fill(count: number): Promise<void> {
    const longest = { name: '\u{1F5FA}'.repeat(80), slug: 'x'.repeat(43) };
    await sql`
      insert into workspace (id, organization_id, team_id, name, slug)
      select gen_random_uuid()::text, ${tenant.organizationId}, null, ${longest.name}, ${longest.slug} || to_char(n, 'FM00000')
      from generate_series(1, ${count}) n
    `.execute(api.database.db);
  }

  const call = (operation: string, input: Record<string, unknown>) =>
    callOver(api, 'REST', operation, input, { token: tenant.owner.token });

  it('are bounded in number without billing too, against requests at once', async () => {
    const { organizationId } = tenant;
    await fill(most - 1 - free);
    const slugs = Array.from({ length: 2 * free }, (_, n) => `at-once-${n}`);
    const created = await Promise.all(slugs.map((slug) => call('workspaces.create', { organizationId, name: slug, slug })));
    const refused = created.filter(({ status }) => status !== 200);
    expect(created.length - refused.length).to.equal(free);
    for (const { status, body } of refused) {
      expect(status).to.equal(403);
      const message = `An organization has at most ${most} workspaces.`;
      const data = { kind: 'workspaces', limit: most, plan: 'free' };
      expect(body).to.deep.include({ defined: true, code: 'LIMIT_REACHED', message, data });
    }
    const { body: listed } = await call('workspaces.list', { organizationId });
    expect(listed).to.have.lengthOf(most);
    await call('workspaces.delete', { id: listed[0].id });
    expect((await call('workspaces.create', { organizationId, name: 'Room', slug: 'room' })).status).to.equal(200);
  });

  it('fit a page, however many are allowed and whatever they are named', async () => {
    await fill(most - 1);
    const listed = await listWorkspaces(api.database.db, tenant.organizationId);
    expect(listed).to.have.lengthOf(most);
    expect(Buffer.byteLength(JSON.stringify(listed.map(toWorkspace)))).to.be.at.most(maxPageBytes);
  });
});
