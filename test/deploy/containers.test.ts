import { expect } from 'chai';
import { listNeededImages } from '../../tools/containers/images.ts';
import { recipes } from '../../tools/containers/stand-ins/recipes.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';
import { runProgram } from '../support/processes.ts';

describe('npm run test:containers', () => {
  it('says how to get a container engine where there is none', async () => {
    const empty = makeTestDirectory();
    const program = runProgram(process.execPath, ['tools/containers/main.ts'], { env: { PATH: empty } });
    const { code } = await program.exited;
    removeTestDirectory(empty);
    expect({ code, stdout: program.stdout() }).to.deep.equal({ code: 2, stdout: '' });
    expect(program.stderr())
      .to.match(/^No container engine: /)
      .and.include('apt-get install docker.io')
      .and.include('docker-compose');
  });

  it('explains arguments that it does not understand, before it does anything', async () => {
    const program = runProgram(process.execPath, ['tools/containers/main.ts', '--quick']);
    expect((await program.exited).code).to.equal(2);
    expect(program.stderr()).to.match(/^Usage: npm run test:containers/);
  });

  it('has a stand-in for each image that somebody else publishes', async () => {
    const needed = await listNeededImages();
    expect(needed).to.include.members(['node:24-bookworm-slim', 'nginx:1.28-alpine']);
    expect(Object.keys(recipes)).to.have.members(needed);
  });
});
