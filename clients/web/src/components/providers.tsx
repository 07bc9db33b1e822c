import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { authConfigQuery } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';

/** A button for each provider of the deployment. */
export function Providers({ next = '/' }: { next?: string | undefined }) {
  const { data } = useQuery(authConfigQuery);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (provider: string) =>
      ask(auth.signIn.social({ provider, callbackURL: next, errorCallbackURL: `/sign-in?${new URLSearchParams({ next })}` })),
  });
  return (
    <>
      <Failure error={error} />
      {data?.socialProviders.map((provider) => (
        <Button key={provider} variant="default" loading={isPending} onClick={() => mutate(provider)}>
          {t.sign.by(t.sign.providers[provider])}
        </Button>
      ))}
    </>
  );
}
