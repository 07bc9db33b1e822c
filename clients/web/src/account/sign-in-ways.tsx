import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Loaded } from '../components/loaded.tsx';
import { TaskButton } from '../components/task-button.tsx';
import { authConfigQuery } from '../queries.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';
import { Section } from './section.tsx';
import { accountsQuery } from './user.ts';

/** The providers of the deployment, and whether the user signs in by them. */
export function SignInWays() {
  const { data: config } = useQuery(authConfigQuery);
  const accounts = useQuery(accountsQuery);
  if (!config?.socialProviders.length) return null;
  return (
    <Section title={t.account.providers}>
      <Text c="dimmed" mb="sm">
        {t.account.providersHint}
      </Text>
      <Loaded query={accounts}>
        {(items) => (
          <Stack gap="sm">
            {config.socialProviders.map((provider) => (
              <Way key={provider} provider={provider} accountId={items.find(({ providerId }) => providerId === provider)?.id} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function Way({ provider, accountId }: { provider: keyof typeof t.sign.providers; accountId: string | undefined }) {
  const name = t.sign.providers[provider];
  const here = window.location.pathname;
  const link = () => ask(auth.linkSocial({ provider, callbackURL: here, errorCallbackURL: here }));
  return (
    <Group justify="space-between" gap="sm">
      <Text>{name}</Text>
      {accountId === undefined ? (
        <TaskButton task={link} label={t.account.connectOne(name)}>
          {t.account.connect}
        </TaskButton>
      ) : (
        <TaskButton
          task={() => ask(auth.unlinkAccount({ accountId }))}
          changes={accountsQuery.queryKey}
          label={t.account.disconnectOne(name)}
        >
          {t.account.disconnect}
        </TaskButton>
      )}
    </Group>
  );
}
