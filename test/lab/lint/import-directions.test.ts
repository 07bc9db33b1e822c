import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { freeFolders, importRules } from './import-rules.ts';
import { linterRules } from './linter-rules.ts';

/** For each folder of the table: a folder and a package that it may not import, and imports that it may. */
const samples: Record<string, { folder: string; package: string; allowed: string[] }> = {
  contract: { folder: '../domain/ids.ts', package: 'kysely', allowed: ["import { initClient } from '@ts-rest/core';"] },
  base: { folder: '../../db/connect.ts', package: 'p-limit', allowed: ["import { eld } from 'eld/extrasmall';"] },
  db: {
    folder: '../domain/ids.ts',
    package: '@temporalio/client',
    allowed: ["import { Migrator } from 'kysely/migration';", "import { signals } from '../contract/intents/definitions.ts';"],
  },
  adapters: {
    folder: '../../db/connect.ts',
    package: 'kysely',
    allowed: ["import { deriveKey } from '../../base/config/keys.ts';", "import nodemailer from 'nodemailer';"],
  },
  'adapters/temporal': {
    folder: '../../domain/ids.ts',
    package: 'express',
    allowed: ["import { signals } from '../../contract/intents/definitions.ts';", "import { connect } from '../../db/connect.ts';"],
  },
  'adapters/metrics': { folder: '../../domain/ids.ts', package: 'pg', allowed: ["import { Gauge } from 'prom-client';"] },
  domain: { folder: '../payments/plans.ts', package: 'express', allowed: ["import { lockJob } from '../locks.ts';"] },
  'domain/payments': { folder: '../../api/auth/auth.ts', package: 'better-auth', allowed: ["import Stripe from 'stripe';"] },
  workflows: {
    folder: '../adapters/temporal/outbox.ts',
    package: 'node:crypto',
    allowed: [
      "import type { Activities } from '../activities/index.ts';",
      "import { signals } from '../contract/intents/definitions.ts';",
      "import { traceparentOf } from '../base/telemetry/trace-header.ts';",
    ],
  },
  activities: {
    folder: '../../ai/service.ts',
    package: 'kysely',
    allowed: ["import { createAiClient } from '../../adapters/ai-service/client.ts';"],
  },
  worker: { folder: '../api/app.ts', package: 'express', allowed: ["import { createActivities } from '../activities/index.ts';"] },
  api: {
    folder: '../../adapters/temporal/outbox.ts',
    package: 'pg',
    allowed: ["import { createJob } from '../../domain/jobs/create-job.ts';", "import { mountAuth } from '../auth/mount.ts';"],
  },
  'api/auth': { folder: '../../adapters/storage/port.ts', package: '@temporalio/client', allowed: ["import pg from 'pg';"] },
  ai: { folder: '../../domain/ids.ts', package: 'pg', allowed: ["import express from 'express';"] },
  'clients/typescript': {
    folder: '../../api/app.ts',
    package: 'node:fs',
    allowed: ["import type { Contract } from '../../contract/index.ts';"],
  },
  'clients/typescript/cli': {
    folder: '../../../contract/index.ts',
    package: 'zod',
    allowed: ["import { createClient } from '../index.ts';"],
  },
  'clients/web': { folder: '../../contract/index.ts', package: 'pg', allowed: ["import { createClient } from '@sheaf/client';"] },
};
const deepFolders = new Set(['base', 'adapters', 'domain', 'ai', 'activities', 'api']);

const restricted = 'lint/style/noRestrictedImports';
const processEnv = 'lint/style/noProcessEnv';
const typesOnly = 'plugin';

/** Sources by path, with the diagnostics that they must get. */
const cases: Record<string, { source: string; expected: string[] }> = {
  'domain/read-config.ts': { source: "import { loadServerConfig } from '../base/config/server.ts';", expected: [typesOnly] },
  'domain/config-type.ts': { source: "import type { ServerConfig } from '../base/config/server.ts';", expected: [] },
  'domain/send-mail.ts': { source: "import { createMailer } from '../adapters/mail/create-mailer.ts';", expected: [restricted] },
  'api/main.ts': { source: "import { loadServerConfig } from '../base/config/server.ts';\nloadServerConfig(process.env);", expected: [] },
  'api/workflow-id.ts': { source: "import { workflowIds } from '../contract/intents/definitions.ts';", expected: [] },
  'workflows/call.ts': { source: "import { createActivities } from '../activities/index.ts';", expected: [typesOnly] },
  'workflows/side-effect.ts': { source: "import '../domain/ids.ts';", expected: [typesOnly] },
  'workflows/export.ts': { source: "export * from '../domain/ids.ts';", expected: [typesOnly] },
  'workflows/export-own.ts': { source: "export { runJob } from './run-job.ts';\nexport const tries = 3;", expected: [] },
  'clients/typescript/contract.ts': { source: "import { contract } from '../../contract/index.ts';", expected: [typesOnly] },
  'base/config/plan-type.ts': { source: "import type { PlanName } from '../../contract/fields.ts';", expected: [] },
  'base/config/plan-value.ts': { source: "import { planName } from '../../contract/fields.ts';", expected: [] },
  'db/export-kind.ts': { source: "export type { JobKind } from '../contract/jobs.ts';", expected: [] },
  'db/kinds.ts': { source: "import { jobKinds } from '../contract/jobs.ts';", expected: [typesOnly] },
  'clients/typescript/schema.ts': { source: "import { initClient } from '@ts-rest/core';", expected: [typesOnly] },
  'clients/typescript/export.ts': { source: "export type { Contract } from '../../contract/index.ts';", expected: [] },
  'clients/typescript/fetch.ts': { source: "import { RPCLink } from '@orpc/client/fetch';", expected: [] },
  'workflows/dynamic.ts': { source: "await import('node:fs');", expected: [restricted] },
  'api/export.ts': { source: "export * from '../worker/start-worker.ts';", expected: [restricted] },
  'domain/jobs/pay.ts': { source: "import { plans } from '../payments/plans.ts';", expected: [restricted] },
  'activities/pay.ts': { source: "import { plans } from '../domain/payments/plans.ts';", expected: [] },
  'adapters/storage/watch.ts': { source: "import { connect } from '../../db/connect.ts';", expected: [restricted] },
  'domain/read-variable.ts': { source: 'console.log(process.env.HOME);', expected: [processEnv] },
  'worker/read-variable.ts': { source: 'console.log(process.env.HOME);', expected: [processEnv] },
  'base/config/read-variable.ts': { source: 'console.log(process.env.HOME);', expected: [] },
};
for (const [name, { folder, package: npm, allowed }] of Object.entries(samples)) {
  const place = deepFolders.has(name) ? `${name}/deep` : name;
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
    const outermost = [...Object.keys(importRules).map((name) => name.split('/')[0]), ...freeFolders];
    expect(new Set(folders)).to.deep.equal(new Set(outermost));
    expect(Object.keys(samples)).to.have.members(Object.keys(importRules));
  });

  it('are between folders that docs/architecture.md describes', () => {
    const [, section = ''] = readFileSync('docs/architecture.md', 'utf8').split('\n## Folders\n');
    const described = [...(section.split('\n## ')[0] ?? '').matchAll(/`([a-z/]+)\/`/g)].map(([, folder]) => folder);
    expect(described).to.include.members([...Object.keys(importRules).map((name) => name.split('/')[0]), ...freeFolders]);
  });

  it('are those of the table in test/lab/lint/import-rules.ts', () => {
    expect(JSON.parse(readFileSync('test/lab/lint/import-rules.json', 'utf8')), 'run npm run import-rules').to.deep.equal(linterRules());
  });
});

/** Runs the linter over files in a project of their own that has this project's configuration; categories by path. */
async function lint(files: { path: string; source: string }[]): Promise<Map<string, string[]>> {
  const directory = makeTestDirectory();
  try {
    const { vcs, ...configuration } = JSON.parse(readFileSync('biome.json', 'utf8'));
    writeFileSync(join(directory, 'biome.json'), JSON.stringify({ ...configuration, root: true }));
    cpSync('test/lab/lint', join(directory, 'test/lab/lint'), { recursive: true });
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
