import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { errorCodes } from '../../contract/errors.ts';
import { jobCredits } from '../../contract/jobs.ts';
import { permissionsFile, permissionsPage } from '../lab/pages/permissions-page.ts';

const read = (path: string) => readFileSync(path, 'utf8');

describe('The pages for integrators', () => {
  it('have the roles, permissions and operations of the contract (`npm run pages` writes them)', () => {
    expect(read(permissionsFile)).to.equal(permissionsPage());
  });

  it('say what each kind of job costs', () => {
    for (const [kind, credits] of Object.entries(jobCredits))
      expect(read('docs/reference.md')).to.match(new RegExp(`^\\| \`${kind}\` \\| ${credits} \\|`, 'm'));
  });

  it('list every code of an error, with its status', () => {
    for (const [code, { status }] of Object.entries(errorCodes))
      expect(read('docs/reference.md')).to.match(new RegExp(`^\\| ${status} \`${code}\` \\|`, 'm'));
  });

  it('list every code with which a job fails', () => {
    const [, section = ''] = read('docs/reference.md').split('\n## Why a job failed\n');
    const named = (files: string | string[], pattern: RegExp) =>
      globSync(files).flatMap((file) => [...read(file).matchAll(pattern)].map(([, code]) => code));
    const ofJobs = named('activities/*.ts', /new JobFailure\(\s*'(\w+)'/g);
    // The other 4xx are refusals of the caller, which is the service itself.
    const ofDocuments = named('ai/**/*.ts', /new ServiceError\((?:413|415|422), '(\w+)'/g);
    const ofCaller = ['invalid_request', 'too_large', 'no_reranker', 'no_chat_model'];
    const ofAttempts = named(['activities/*.ts', 'domain/jobs/*.ts', 'workflows/*.ts'], /\bcode: '([a-z_]+)'/g);
    const codes = [...new Set([...ofJobs, ...ofDocuments, ...ofAttempts])].filter((code = '') => !ofCaller.includes(code));
    expect(codes.length).to.be.greaterThan(15);
    expect(codes.filter((code) => !section.includes(`\`${code}\``))).to.deep.equal([]);
  });

  it('are all listed in llms.txt, which names no other', () => {
    const pages = globSync([
      'README.md',
      'docs/*.md',
      'clients/{typescript,python}/README.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      'CHANGELOG.md',
    ]);
    const listed = [...read('llms.txt').matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S/gm)].map(([, path]) => path);
    expect(listed).to.have.members(pages);
  });
});
