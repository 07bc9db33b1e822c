import type { Recipe } from './recipe.ts';
import { RootDirectory } from './root-directory.ts';

const version = '17';

/** As the published image starts: makes the data directory if it is new, runs what stands in /docker-entrypoint-initdb.d, then serves. */
const entrypoint = `#!/bin/sh
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -n "\${POSTGRES_PASSWORD_FILE:-}" ]; then POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE"); fi
  if [ -z "\${POSTGRES_PASSWORD:-}" ]; then
    echo 'POSTGRES_PASSWORD must be set' >&2
    exit 1
  fi
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  printf '%s\\n' "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username=postgres --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
  pg_ctl --wait --options="-c listen_addresses=''" start
  for file in /docker-entrypoint-initdb.d/*.sh; do
    if [ -x "$file" ]; then "$file"; fi
  done
  pg_ctl --wait --mode=fast stop
fi
exec "$@"
`;

/** Postgres with pgvector. */
export const makePostgres: Recipe = {
  madeOf: `Debian's postgresql-${version} and postgresql-${version}-pgvector`,
  async make(name) {
    const root = await RootDirectory.create([]);
    await root.run('groupadd', ['--system', '--gid', '999', 'postgres']);
    await root.run('useradd', ['--system', '--uid', '999', '--gid', '999', '--home', '/var/lib/postgresql', 'postgres']);
    root.write('/etc/postgresql-common/createcluster.conf', 'create_main_cluster = false\n');
    await root.install([`postgresql-${version}`, `postgresql-${version}-pgvector`]);
    await root.run('install', [
      '--directory',
      '--owner=postgres',
      '--group=postgres',
      '--mode=1777',
      '/var/lib/postgresql',
      '/run/postgresql',
    ]);
    await root.run('mkdir', ['/docker-entrypoint-initdb.d']);
    root.write('/usr/local/bin/docker-entrypoint.sh', entrypoint, 0o755);
    await root.toImage(name, this.madeOf, [
      `ENV PATH=/usr/lib/postgresql/${version}/bin:/usr/local/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/data-of-${version}`,
      'VOLUME /var/lib/postgresql',
      'ENTRYPOINT ["docker-entrypoint.sh"]',
      'CMD ["postgres"]',
    ]);
  },
};
