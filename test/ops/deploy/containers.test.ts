import { expect } from 'chai';
import { listNeededImages } from '../../lab/containers/images.ts';
import { recipes } from '../../lab/containers/stand-ins/recipes.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { runProgram } from '../../support/processes.ts';

describe('npm run test:containers', () => {
  it('says how to get a container engine where there is none', async () => {
    const empty = makeTestDirectory();
    const program = runProgram(process.execPath, ['test/lab/containers/main.ts'], { env: { PATH: empty } });
    const { code } = await program.exited;
    removeTestDirectory(empty);
    expect({ code, stdout: program.stdout() }).to.deep.equal({ code: 2, stdout: '' });
    expect(program.stderr())
      .to.match(/^No container engine: /)
      .and.include('apt-get install docker.io')
      .and.include('docker-compose');
  });

  it('has a stand-in for each image that somebody else publishes', async () => {
    const needed = await listNeededImages();
    expect(needed).to.include.members(['node:24-bookworm-slim', 'nginx:1.30-alpine']);
    expect(Object.keys(recipes)).to.have.members(needed);
  });
});
