import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadAiServiceConfig } from '../../../base/config/ai-service.ts';
import { findProblems } from '../../../base/config/environment.ts';
import { loadLocalConfig } from '../../../base/config/local.ts';
import { loadOpsConfig } from '../../../base/config/ops.ts';
import { secretVariables } from '../../../base/config/secret-files.ts';
import { loadServerConfig } from '../../../base/config/server.ts';
import { variables } from '../../../base/config/variables.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

const secret = '0123456789abcdef'.repeat(4);
const env = { DATABASE_URL: 'postgres://db/sheaf', AUTH_SECRET: 'another secret of a test', SERVICE_TOKEN: 'a token' };

describe('A secret in a file', () => {
  let directory: string;
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  before(() => {
    directory = makeTestDirectory();
  });
  after(() => removeTestDirectory(directory));

  it('is taken without the line break at its end, and counts before the variable', () => {
    expect(loadServerConfig({ ...env, AUTH_SECRET_FILE: file('one', `${secret}\n`) }).authSecret).to.equal(secret);
    expect(loadServerConfig({ ...env, AUTH_SECRET: '', AUTH_SECRET_FILE: file('two', `${secret}\r\n`) }).authSecret).to.equal(secret);
    expect(loadServerConfig({ ...env, AUTH_SECRET_FILE: '  ' }).authSecret).to.equal(env.AUTH_SECRET);
  });

  it('is taken by every program', () => {
    const database = { DATABASE_URL_FILE: file('database', 'postgres://elsewhere/sheaf\n') };
    expect(loadServerConfig({ ...env, ...database }).database.url).to.equal('postgres://elsewhere/sheaf');
    expect(loadOpsConfig(database).databaseUrl).to.equal('postgres://elsewhere/sheaf');
    expect(loadLocalConfig(database).external.databaseUrl).to.equal('postgres://elsewhere/sheaf');
    expect(loadAiServiceConfig({ SERVICE_TOKEN_FILE: file('token', 'a token\n') }).token).to.equal('a token');
  });

  it('is checked as the variable is', () => {
    const problems = findProblems(() => loadServerConfig({ ...env, AUTH_SECRET_FILE: file('short', 'short') }));
    expect(problems).to.deep.equal(['AUTH_SECRET: must have at least 16 characters']);
    const { programProblems } = loadLocalConfig({ AUTH_SECRET_FILE: file('short', 'short') });
    expect(programProblems).to.deep.equal(['AUTH_SECRET: must have at least 16 characters']);
  });

  it('is missed if the file is not there or is empty, without a word of a content', () => {
    const missing = join(directory, 'none');
    const problems = findProblems(() => loadServerConfig({ ...env, AUTH_SECRET_FILE: missing, SMTP_URL_FILE: file('empty', ' \n') }));
    expect(problems).to.have.members([
      `AUTH_SECRET_FILE: ${missing} cannot be read (ENOENT)`,
      `SMTP_URL_FILE: ${join(directory, 'empty')} is empty`,
    ]);
  });

  it('is possible for what programs read, and for nothing that is no secret', () => {
    const known = [...variables.server, ...variables.aiService, ...variables.ops];
    expect(known).to.include.members([...secretVariables]);
    const telling = known.filter(
      (name) =>
        /SECRET|PASSWORD|TOKEN|_KEYS?$|_HEADERS$|^DATABASE.*_URL$|^SMTP_URL$|^REMOTE_AI_(?!.*_(URL|MODEL)$)/.test(name) &&
        !name.includes('TLS'),
    );
    expect(secretVariables).to.have.members([...new Set(telling)]);
    expect(loadServerConfig({ ...env, EMAIL_FROM_FILE: file('from', 'me') }).email.from).to.equal('Sheaf <no-reply@localhost>');
  });
});
