import { expect } from 'chai';
import pino from 'pino';
import { citationUrl } from '../../api/chat/citation-url.ts';
import type { ApiDeps } from '../../api/deps.ts';
import { createDb, createPool } from '../../db/connect.ts';

describe('The address of a citation', () => {
  it('is that of its text if the database is away: the answer has been paid', async () => {
    const db = createDb(createPool({ url: 'postgres://nobody@127.0.0.1:9/none', poolSize: 1 }));
    const config = { apiUrl: 'https://sheaf.example', console: { enabled: true } };
    const deps = { config, db, log: pino({ enabled: false }) } as unknown as ApiDeps;
    const urlOf = await citationUrl(deps, 'a-workspace');
    expect(urlOf({ documentId: 'a-document', page: 2 } as Parameters<typeof urlOf>[0])).to.equal(
      'https://sheaf.example/api/v1/documents/a-document/text?page=2',
    );
    await db.destroy();
  });
});
