import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { borderConfiguration } from '../../tools/lint/borders.ts';
import { freeFolders, rooms } from '../../tools/lint/rooms.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';

/** For each room: a folder and a package that it may not import, and imports that it may. */
const samples: Record<string, { folder: string; package: string; allowed: string[] }> = {
  concurrency: { folder: '../db/connect.ts', package: 'p-limit', allowed: ["import { setTimeout } from 'node:timers/promises';"] },
  text: { folder: '../domain/ids.ts', package: 'natural', allowed: ["import { eld } from 'eld/extrasmall';"] },
  contract: { folder: '../domain/ids.ts', package: 'kysely', allowed: ["import { initClient } from '@ts-rest/core';"] },
  client: { folder: '../api/app.ts', package: 'node:fs', allowed: ["import type { Contract } from '../contract/index.ts';"] },
  'client/cli': { folder: '../../contract/index.ts', package: 'zod', allowed: ["import { createClient } from '../index.ts';"] },
  config: { folder: '../db/connect.ts', package: 'pino', allowed: ["import { homedir } from 'node:os';"] },
  db: { folder: '../domain/ids.ts', package: '@temporalio/client', allowed: ["import { Migrator } from 'kysely/migration';"] },
  domain: { folder: '../../temporal/outbox.ts', package: 'express', allowed: ["import { lockJob } from '../locks.ts';"] },
  payments: { folder: '../auth/auth.ts', package: 'better-auth', allowed: ["import Stripe from 'stripe';"] },
  auth: { folder: '../api/app.ts', package: '@temporalio/client', allowed: ["import pg from 'pg';"] },
  adapters: {
    folder: '../../db/connect.ts',
    package: 'kysely',
    allowed: ["import { deriveKey } from '../../config/keys.ts';", "import nodemailer from 'nodemailer';"],
  },
  ai: { folder: '../../domain/ids.ts', package: 'pg', allowed: ["import express from 'express';"] },
  telemetry: { folder: '../domain/ids.ts', package: '@temporalio/client', allowed: ["import { pino } from 'pino';"] },
  workflows: {
    folder: '../temporal/outbox.ts',
    package: 'node:crypto',
    allowed: ["import type { Activities } from '../activities/index.ts';"],
  },
  activities: { folder: '../../ai/service.ts', package: 'kysely', allowed: ["import { createAiClient } from '../../ai/client.ts';"] },
  temporal: { folder: '../domain/ids.ts', package: 'express', allowed: ["import { signals } from '../workflows/definitions.ts';"] },
  worker: { folder: '../api/app.ts', package: 'express', allowed: ["import { createActivities } from '../activities/index.ts';"] },
  api: { folder: '../../temporal/outbox.ts', package: 'pg', allowed: ["import { createJob } from '../../domain/jobs/create-job.ts';"] },
  web: { folder: '../contract/index.ts', package: 'pg', allowed: ["import { createClient } from '@sheaf/client';"] },
};
const deepRooms = new Set(['adapters', 'domain', 'ai', 'activities', 'api']);

const restricted = 'lint/style/noRestrictedImports';
const processEnv = 'lint/style/noProcessEnv';
const typesOnly = 'plugin';

/** Sources by path, with the diagnostics that they must get. */
const cases: Record<string, { source: string; expected: string[] }> = {
  'domain/read-config.ts': { source: "import { loadServerConfig } from '../config/server.ts';", expected: [typesOnly] },
  'domain/config-type.ts': { source: "import type { ServerConfig } from '../config/server.ts';", expected: [] },
  'domain/send-mail.ts': { source: "import { createMailer } from '../adapters/mail/create-mailer.ts';", expected: [restricted] },
  'api/main.ts': { source: "import { loadServerConfig } from '../config/server.ts';\nloadServerConfig(process.env);", expected: [] },
  'api/workflow-id.ts': { source: "import { workflowIds } from '../workflows/definitions.ts';", expected: [] },
  'workflows/call.ts': { source: "import { createActivities } from '../activities/index.ts';", expected: [typesOnly] },
  'workflows/side-effect.ts': { source: "import '../domain/ids.ts';", expected: [typesOnly] },
  'workflows/export.ts': { source: "export * from '../domain/ids.ts';", expected: [typesOnly] },
  'workflows/export-own.ts': { source: "export { runJob } from './run-job.ts';\nexport const tries = 3;", expected: [] },
  'client/contract.ts': { source: "import { contract } from '../contract/index.ts';", expected: [typesOnly] },
  'config/plan-type.ts': { source: "import type { PlanName } from '../contract/fields.ts';", expected: [] },
  'config/plan-value.ts': { source: "import { planName } from '../contract/fields.ts';", expected: [typesOnly] },
  'db/export-kind.ts': { source: "export type { JobKind } from '../contract/jobs.ts';", expected: [] },
  'db/kinds.ts': { source: "import { jobKinds } from '../contract/jobs.ts';", expected: [typesOnly] },
  'client/schema.ts': { source: "import { initClient } from '@ts-rest/core';", expected: [typesOnly] },
  'client/export.ts': { source: "export type { Contract } from '../contract/index.ts';", expected: [] },
  'client/fetch.ts': { source: "import { RPCLink } from '@orpc/client/fetch';", expected: [] },
  'workflows/dynamic.ts': { source: "await import('node:fs');", expected: [restricted] },
  'api/export.ts': { source: "export * from '../worker/start-worker.ts';", expected: [restricted] },
  'domain/read-variable.ts': { source: 'console.log(process.env.HOME);', expected: [processEnv] },
  'worker/read-variable.ts': { source: 'console.log(process.env.HOME);', expected: [processEnv] },
  'config/read-variable.ts': { source: 'console.log(process.env.HOME);', expected: [] },
};
for (const [room, { folder, package: npm, allowed }] of Object.entries(samples)) {
  const place = deepRooms.has(room) ? `${room}/deep` : room;
  cases[`${place}/imports-folder.ts`] = { source: `import type { x } from '${folder}';`, expected: [restricted] };
  cases[`${place}/imports-package.ts`] = { source: `import { x } from '${npm}';`, expected: [restricted] };
  cases[`${place}/imports-main.ts`] = { source: "import './main.ts';", expected: [restricted] };
  cases[`${place}/imports-well.ts`] = { source: ["import './other.ts';", ...allowed].join('\n'), expected: [] };
}

describe('The import directions', () => {
  let found: Map<string, string[]>;

  before(async () => {
    found = await lint(Object.entries(cases).map(([path, { source }]) => ({ path, source })));
  });

  for (const [path, { source, expected }] of Object.entries(cases)) {
    const verb = expected.length > 0 ? 'refuse' : 'allow';
    it(`${verb} ${source.split('\n').at(-1)} in ${path}`, () => {
      expect(found.get(path) ?? []).to.deep.equal(expected);
    });
  }

  it('know every folder', () => {
    const folders = globSync('*/**/*.ts', { exclude: (name) => name.startsWith('node_modules') }).map((path) => path.split('/')[0] ?? '');
    const outermost = [...Object.keys(rooms).map((room) => room.split('/')[0]), ...freeFolders];
    expect(new Set(folders)).to.deep.equal(new Set(outermost));
    expect(Object.keys(samples)).to.have.members(Object.keys(rooms));
  });

  it('are between folders that docs/architecture.md describes', () => {
    const [, section = ''] = readFileSync('docs/architecture.md', 'utf8').split('\n## Folders\n');
    const described = [...(section.split('\n## ')[0] ?? '').matchAll(/`([a-z/]+)\/`/g)].map(([, folder]) => folder);
    expect(described).to.include.members([...Object.keys(rooms), ...freeFolders]);
  });

  it('are those of the table in tools/lint/rooms.ts', () => {
    expect(JSON.parse(readFileSync('tools/lint/borders.json', 'utf8')), 'run npm run borders').to.deep.equal(borderConfiguration());
  });
});

/** Runs the linter over files in a project of their own that has this project's configuration; categories by path. */
async function lint(files: { path: string; source: string }[]): Promise<Map<string, string[]>> {
  const directory = makeTestDirectory();
  try {
    const { vcs, ...configuration } = JSON.parse(readFileSync('biome.json', 'utf8'));
    writeFileSync(join(directory, 'biome.json'), JSON.stringify({ ...configuration, root: true }));
    cpSync('tools/lint', join(directory, 'tools/lint'), { recursive: true });
    for (const { path, source } of files) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), `${source}\n`);
    }
    return byPath(await runBiome(directory));
  } finally {
    removeTestDirectory(directory);
  }
}

function runBiome(cwd: string): Promise<string> {
  const args = [resolve('node_modules/@biomejs/biome/bin/biome'), 'lint', '--reporter=json', '--max-diagnostics=none', '.'];
  return new Promise((done) => execFile(process.execPath, args, { cwd, maxBuffer: 2 ** 24 }, (_, stdout) => done(stdout)));
}

function byPath(report: string): Map<string, string[]> {
  const { diagnostics } = JSON.parse(report) as { diagnostics: { category: string; location: { path: string } }[] };
  const relevant = diagnostics.filter(({ category }) => [restricted, processEnv, typesOnly].includes(category));
  const paths = new Set(relevant.map(({ location }) => location.path));
  const categoriesOf = (path: string) => relevant.filter(({ location }) => location.path === path).map(({ category }) => category);
  return new Map([...paths].map((path) => [path, [...new Set(categoriesOf(path))].sort()]));
}
