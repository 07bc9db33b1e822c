import type { Recipe } from './recipe.ts';
import { RootDirectory } from './root-directory.ts';

/** nginx, with the user and the programs that the published image has. */
export const makeNginx: Recipe = {
  madeOf: "Debian's nginx and curl",
  async make(name) {
    const root = await RootDirectory.create(['nginx-light', 'curl', 'ca-certificates']);
    await root.run('groupadd', ['--system', '--gid', '101', '--non-unique', 'nginx']);
    await root.run('useradd', ['--system', '--uid', '101', '--gid', '101', '--non-unique', '--home', '/nonexistent', 'nginx']);
    await root.toImage(name, this.madeOf, ['EXPOSE 80', 'CMD ["nginx", "-g", "daemon off;"]']);
  },
};
