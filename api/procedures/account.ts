import { contract } from '../../contract/index.ts';
import { userOf } from '../caller.ts';
import { procedure } from '../procedure.ts';

export function accountProcedures() {
  return {
    me: procedure(contract.account.me, async (context) => {
      const caller = userOf(context.caller);
      return {
        id: caller.userId,
        email: caller.email,
        name: caller.name,
        image: caller.image,
        role: caller.role,
        createdAt: caller.createdAt.toISOString(),
      };
    }),
  };
}
