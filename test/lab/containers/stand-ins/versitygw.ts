import { buildGoProgram } from './go-program.ts';
import type { Recipe } from './recipe.ts';
import { RootDirectory } from './root-directory.ts';

/** Versity's S3 gateway of a version. As the published image it runs the program with the arguments that it gets. */
export const makeVersitygw = (version: string): Recipe => ({
  madeOf: `Debian, its wget, and the Go module github.com/versity/versitygw ${version}`,
  async make(name) {
    const program = await buildGoProgram('github.com/versity/versitygw/cmd/versitygw', version);
    const root = await RootDirectory.create(['wget']);
    root.copyProgram(program, '/usr/local/bin/versitygw');
    await root.toImage(name, this.madeOf, ['EXPOSE 7070', 'ENTRYPOINT ["versitygw"]']);
  },
});
