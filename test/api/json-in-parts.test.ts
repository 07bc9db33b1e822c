import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import express, { type ErrorRequestHandler } from 'express';
import { jsonInParts } from '../../api/http/json-in-parts.ts';
import { requestInfo } from '../../api/http/request.ts';
import { until } from '../support/processes.ts';

describe('A list in a response', () => {
  const bodies: Record<string, unknown> = {
    empty: { items: [], nextCursor: null },
    alone: { items: [{ name: 'Ärger 🔭', missing: undefined }] },
    several: { items: [{ id: 1 }, { id: 2, at: new Date(0) }, null, undefined], nextCursor: 'after' },
    entries: { entries: [{ id: 1 }, null], nextCursor: null },
    bare: [{ id: 1 }, null],
    'bare and empty': [],
    long: { items: Array.from({ length: 300 }, (_, id) => ({ id, text: 'ü'.repeat(20_000) })), nextCursor: null },
  };
  let server: Server;
  let url = '';
  let turns = 0;
  let counting: NodeJS.Immediate;
  /** Which turn of the event loop it was when each item was written. */
  const turnsOfItems: number[] = [];
  const pacedBytes: number[] = [];

  before(async () => {
    const fails: ErrorRequestHandler = (error, _req, res, _next) => void res.status(500).json({ message: String(error.message) });
    const slow = {
      toJSON: () => {
        turnsOfItems.push(turns);
        for (const endsAt = performance.now() + 3; performance.now() < endsAt; );
        return 'slow';
      },
    };
    const broken = {
      toJSON: () => {
        throw new Error('this item cannot be written');
      },
    };
    const app = express()
      .use(jsonInParts)
      .get('/long-and-slow', (_req, res) => void res.json({ items: Array(200).fill(slow) }))
      .get('/slow', (_req, res) => void res.json({ items: Array(10).fill(slow) }))
      .get('/slow-entries', (_req, res) => void res.json({ entries: Array(10).fill(slow) }))
      .get('/slow-and-bare', (_req, res) => void res.json(Array(10).fill(slow)))
      .get('/paced', (req, res) => {
        requestInfo(req, res).paceResponse(async (bytes) => void pacedBytes.push(bytes));
        res.json({ items: Array(10).fill(slow) });
      })
      .get('/broken', (_req, res) => void res.json({ items: [slow, slow, broken] }))
      .get('/rpc/slow', (_req, res) => void res.json({ json: { items: Array(10).fill(slow) } }))
      .get('/rpc/:name', (req, res) => void res.json({ json: bodies[req.params.name] }))
      .get('/:name', (req, res) => void res.status(203).json(bodies[req.params.name]))
      .use(fails);
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const count = () => {
      turns += 1;
      counting = setImmediate(count);
    };
    count();
  });
  after(() => {
    server.close();
    clearImmediate(counting);
  });

  for (const [name, body] of Object.entries(bodies)) {
    it(`is the same as in one piece: ${name}`, async () => {
      const got = await fetch(`${url}/${name}`);
      const bytes = Buffer.from(await got.arrayBuffer());
      expect([got.status, got.headers.get('content-type')]).to.deep.equal([203, 'application/json; charset=utf-8']);
      expect(got.headers.get('content-length')).to.equal(String(bytes.length));
      expect(bytes.toString()).to.equal(JSON.stringify(body));
      const head = await fetch(`${url}/${name}`, { method: 'HEAD' });
      expect(head.headers.get('content-length')).to.equal(String(bytes.length));
      expect(await (await fetch(`${url}/rpc/${name}`)).text()).to.equal(JSON.stringify({ json: body }));
    });
  }

  for (const path of ['/slow', '/rpc/slow']) {
    it(`is written with turns for others between its items: ${path}`, async () => {
      turnsOfItems.length = 0;
      expect(await (await fetch(`${url}${path}`)).text()).to.include(JSON.stringify({ items: Array(10).fill('slow') }));
      expect(new Set(turnsOfItems).size).to.equal(10);
    });
  }

  for (const path of ['/slow-entries', '/slow-and-bare']) {
    it(`is written in turns whatever it is named: ${path}`, async () => {
      turnsOfItems.length = 0;
      expect(await (await fetch(`${url}${path}`)).text()).to.include(JSON.stringify(Array(10).fill('slow')));
      expect(new Set(turnsOfItems).size).to.equal(10);
    });
  }

  it('is written at the pace of the response', async () => {
    pacedBytes.length = 0;
    const body = await (await fetch(`${url}/paced`)).text();
    expect(body).to.equal(JSON.stringify({ items: Array(10).fill('slow') }));
    expect(pacedBytes).to.have.lengthOf(9);
    expect(pacedBytes.reduce((sum, bytes) => sum + bytes)).to.equal(body.length - ',"slow"]}'.length);
  });

  it('is not written any further once its client has left', async () => {
    turnsOfItems.length = 0;
    const leaving = new AbortController();
    const asked = fetch(`${url}/long-and-slow`, { signal: leaving.signal }).catch((error) => error);
    await until(() => turnsOfItems.length > 0);
    leaving.abort();
    expect(await asked).to.have.property('name', 'AbortError');
    await delay(100);
    const written = turnsOfItems.length;
    expect(written).to.be.lessThan(200);
    await delay(50);
    expect(turnsOfItems.length).to.equal(written);
  });

  it('is an error if one of its items is, also after a turn', async () => {
    const got = await fetch(`${url}/broken`);
    expect([got.status, await got.json()]).to.deep.equal([500, { message: 'this item cannot be written' }]);
  });
});
