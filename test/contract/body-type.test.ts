import { expect } from 'chai';
import { routes } from '../../contract/index.ts';
import { createKey } from '../support/api-keys.ts';
import { sendRaw } from '../support/send-raw.ts';
import { useApi } from '../support/use-api.ts';

const json = [
  'application/json',
  'APPLICATION/JSON',
  'application/json; charset=utf-8',
  'application/merge-patch+json',
  'application/json ;x=y',
];
const inUtf8 = Buffer.from('{"json":{"name":"é"},"name":"é"}');
/** The name `é` in other bytes than those of UTF-8, and what is no character at all. */
const notUtf8 = {
  'in UTF-16': Buffer.from(inUtf8.toString(), 'utf16le'),
  'in Latin-1': Buffer.from(inUtf8.toString(), 'latin1'),
  'with bytes that begin no character': named(0xff, 0xfe),
  'with an overlong form': named(0xc0, 0xaf),
  'with surrogates of its own': named(0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80),
  'that breaks off in a character': named(0xe2, 0x82),
};
const notJson = [
  'application/x-www-form-urlencoded',
  'text/plain',
  'text/json',
  'application/jsonp',
  'application/octet-stream',
  'x',
  '',
  undefined,
];

function named(...bytes: number[]): Buffer {
  const [before, between, after] = inUtf8.toString().split('é');
  return Buffer.concat(
    [`${before}`, Uint8Array.from(bytes), `${between}`, Uint8Array.from(bytes), `${after}`].map((part) => Buffer.from(part)),
  );
}

describe('A request with a body', () => {
  const { api, tenant } = useApi({ env: { WORKER_ENABLED: 'false' } });
  let changes = 0;

  const nameOf = async () => {
    const { database } = api;
    return (await database.db.selectFrom('workspace').select('name').where('id', '=', tenant.workspaceId).executeTakeFirstOrThrow()).name;
  };

  /** Renames the workspace over either transport, as the body type says; `chunked` sends no length. */
  function rename(transport: 'REST' | 'RPC', name: string, type: string | undefined, chunked: boolean) {
    const sent = JSON.stringify(transport === 'REST' ? { name } : { json: { id: tenant.workspaceId, name } });
    return send(
      transport === 'REST' ? 'PATCH' : 'POST',
      transport === 'REST' ? `/api/v1/workspaces/${tenant.workspaceId}` : '/rpc/workspaces/update',
      {
        type,
        body: sent,
        chunked,
      },
    );
  }

  function send(
    method: string,
    path: string,
    { type, body, chunked }: { type: string | undefined; body: string | Buffer; chunked: boolean },
  ) {
    const headers = {
      authorization: `Bearer ${tenant.owner.token}`,
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(chunked ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    };
    return sendRaw(api, { method, path, headers, body: [body] });
  }

  for (const transport of ['REST', 'RPC'] as const) {
    for (const chunked of [false, true]) {
      const how = `over ${transport}, ${chunked ? 'chunked' : 'of a known length'},`;
      it(`${how} is read when it says that it is JSON`, async () => {
        for (const type of json) {
          const name = `Name ${++changes}`;
          const answer = await rename(transport, name, type, chunked);
          expect([answer.status, await nameOf()], type).to.deep.equal([200, name]);
        }
      });

      it(`${how} is refused when it does not, and told what to send`, async () => {
        const before = await nameOf();
        for (const type of notJson) {
          const answer = await rename(transport, `Name ${++changes}`, type, chunked);
          const error = transport === 'REST' ? answer.body : answer.body.json;
          expect(error, String(type)).to.include({ defined: true, code: 'BAD_REQUEST', status: 400 });
          expect(error.message, String(type)).to.include('Content-Type: application/json');
          expect(error.data.issues, String(type)).to.deep.equal([{ path: ['Content-Type'], message: error.message }]);
          expect(await nameOf(), String(type)).to.equal(before);
        }
      });
    }
  }

  it('in other bytes than those of UTF-8, or that says so, is refused and changes nothing', async () => {
    const before = await nameOf();
    const charsets = ['utf-16', 'UTF-16LE', 'utf-32', 'utf8', '"ISO-8859-1"', 'x'].map((charset) => `application/json; charset=${charset}`);
    const bodies = [
      ...Object.values(notUtf8).map((body) => ({ type: 'application/json', body })),
      ...charsets.flatMap((type) => [inUtf8, notUtf8['in UTF-16']].map((body) => ({ type, body }))),
    ];
    for (const body of bodies) {
      const rest = await send('PATCH', `/api/v1/workspaces/${tenant.workspaceId}`, { ...body, chunked: false });
      const rpc = await send('POST', '/rpc/workspaces/update', { ...body, chunked: false });
      for (const error of [rest.body, rpc.body.json]) {
        expect(error, JSON.stringify(body)).to.include({ defined: true, code: 'BAD_REQUEST', status: 400 });
        expect(error.data.issues).to.deep.equal([{ path: ['body'], message: 'The body must be JSON in UTF-8.' }]);
      }
    }
    expect(await nameOf()).to.equal(before);
  });

  it('that is empty needs no type', async () => {
    const document = await api.upload(tenant, { bytes: 'Text.' });
    for (const chunked of [false, true]) {
      for (const type of [undefined, 'text/plain', 'application/json']) {
        const answer = await send('POST', `/api/v1/documents/${document.id}/complete`, { type, body: '', chunked });
        expect(answer.status, `${type} ${chunked}`).to.equal(200);
      }
    }
    const none = await sendRaw(api, {
      method: 'POST',
      path: `/api/v1/documents/${document.id}/complete`,
      headers: { authorization: `Bearer ${tenant.owner.token}` },
    });
    expect(none.status).to.equal(200);
  });

  it('and of another type is refused by every operation, before it does anything', async () => {
    const admin = await api.signUp();
    await api.makePlatformAdmin(admin);
    const key = await createKey(api, tenant);
    for (const { method, path, metadata } of routes) {
      const { token } = metadata.access === 'api-key' ? key : admin;
      const { status, body } = await sendRaw(api, {
        method,
        path: `/api/v1${path.replaceAll(/:\w+/g, 'an-id')}`,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded', 'content-length': '16' },
        body: ['immediately=true'],
      });
      expect([status, body.code, body.data?.issues?.[0]?.path], metadata.operation).to.deep.equal([400, 'BAD_REQUEST', ['Content-Type']]);
    }
  });

  it('is refused for its type only after its caller is known', async () => {
    const headers = { 'content-type': 'text/plain', 'content-length': '2' };
    const path = `/api/v1/workspaces/${tenant.workspaceId}`;
    expect((await sendRaw(api, { method: 'PATCH', path, headers, body: ['{}'] })).status).to.equal(401);
  });
});
