import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { leave } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';

/** Ends the session, and loads the console anew, so that nothing of a user stays in memory. */
export function SignOut() {
  const { mutate, isPending, error } = useMutation({ mutationFn: () => ask(auth.signOut()), onSuccess: () => leave('/sign-in') });
  return (
    <>
      <Failure error={error} />
      <Button variant="subtle" fullWidth justify="flex-start" px="sm" loading={isPending} onClick={() => mutate()}>
        {t.nav.signOut}
      </Button>
    </>
  );
}
