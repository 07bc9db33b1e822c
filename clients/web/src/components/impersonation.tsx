import { Button, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { adminAuth } from '../admin-auth.ts';
import { ask } from '../service.ts';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';
import { Foreign } from './foreign.tsx';

/** Says over every page that somebody acts in the name of another, and ends that. */
export default function Impersonation({ name, email }: { name: string; email: string }) {
  // Nothing of the other user stays in memory.
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => ask(adminAuth.admin.stopImpersonating()),
    onSuccess: () => window.location.assign('/admin/users'),
  });
  return (
    <section className="impersonation" aria-label={t.impersonation.title}>
      <Group justify="space-between" gap="sm">
        <Foreign fw={600}>{t.impersonation.says(name, email)}</Foreign>
        <Button size="xs" color="dark" loading={isPending} onClick={() => mutate()}>
          {t.impersonation.end}
        </Button>
      </Group>
      <Failure error={error} />
    </section>
  );
}
