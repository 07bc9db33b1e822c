import { Button, Group, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { leave, sessionQuery } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';

/** As whom one is signed in, and the way out, where no menu says so. Other ways stand before it. */
export function SignedIn({ children }: { children?: ReactNode }) {
  const { data: session } = useQuery(sessionQuery);
  const signOut = useMutation({ mutationFn: () => ask(auth.signOut()), onSuccess: () => leave(window.location.pathname) });
  return (
    <>
      {session && <Text className="foreign">{t.invitation.signedIn(session.user.email)}</Text>}
      <Failure error={signOut.error} />
      <Group>
        {children}
        <Button variant="default" loading={signOut.isPending} onClick={() => signOut.mutate()}>
          {t.nav.signOut}
        </Button>
      </Group>
    </>
  );
}
