import { contract } from '../../contract/index.ts';
import { inTransaction } from '../../db/transaction.ts';
import { deleteFlag, setOverride, upsertFlag } from '../../domain/flags/change-flag.ts';
import { listFlags } from '../../domain/flags/flag.ts';
import type { ApiDeps } from '../deps.ts';
import { toFlag } from '../presenters/flag.ts';
import { procedure } from '../procedure.ts';

export function adminFlagProcedures({ db }: ApiDeps) {
  return {
    list: procedure(contract.admin.flags.list, async () => (await listFlags(db)).map(toFlag)),

    upsert: procedure(contract.admin.flags.upsert, async ({ input, actor }) => {
      const { key, ...values } = input;
      return toFlag(await inTransaction(db, (trx) => upsertFlag(trx, actor, key, values)));
    }),

    delete: procedure(contract.admin.flags.delete, async ({ input, actor }) => {
      await inTransaction(db, (trx) => deleteFlag(trx, actor, input.key));
      return { key: input.key };
    }),

    setOverride: procedure(contract.admin.flags.setOverride, async ({ input, actor }) =>
      toFlag(await inTransaction(db, (trx) => setOverride(trx, actor, input))),
    ),
  };
}
