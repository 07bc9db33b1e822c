import { Alert, Button, Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { CardPage } from '../components/card-page.tsx';
import { Failure } from '../components/failure.tsx';
import { ButtonTo, LinkTo } from '../components/link-to.tsx';
import { SignedIn } from '../components/signed-in.tsx';
import { useFormTask } from '../components/use-form-task.ts';
import { createOrganization, createWorkspace } from '../create-place.ts';
import { type Organization, organizationsQuery, slugsOf } from '../queries.ts';
import { addSamples } from '../samples.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';

const route = getRouteApi('/start');

/** The first run: an organization, unless there is one without a workspace, and its first workspace. */
export default function Start() {
  const navigate = useNavigate();
  const loaded = route.useLoaderData();
  const { data: organizations = [] } = useQuery(organizationsQuery);
  // Made here, while its workspace could not be made: whoever tries again does not get another one.
  const [made, setMade] = useState<Organization>();
  const existing = loaded ?? made;
  const { onSubmit, isPending, error } = useFormTask(async ({ organization: name = '', workspace: first = '', samples }) => {
    const organization = existing ?? (await createOrganization(name));
    setMade(organization);
    const workspace = await createWorkspace(organization.id, first);
    if (samples) void addSamples(workspace.id);
    await navigate({ to: '/o/$organization/$workspace/documents', params: slugsOf({ organization, workspace }) });
  });
  return (
    <CardPage title={t.start.title}>
      <Invitations />
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <Text className="foreign">{existing ? t.start.workspaceHint(existing.name) : t.start.hint}</Text>
          {!existing && <TextInput label={t.start.organization} name="organization" required maxLength={80} autoComplete="organization" />}
          <TextInput label={t.start.workspace} name="workspace" required maxLength={80} defaultValue={t.start.workspaceDefault} />
          <Checkbox name="samples" label={t.start.samples} description={t.start.samplesHint} defaultChecked />
          <Failure error={error} />
          <Button type="submit" loading={isPending}>
            {t.start.create}
          </Button>
        </Stack>
      </form>
      <SignedIn>
        {!existing && organizations.length > 0 && (
          <ButtonTo to="/" variant="default">
            {t.common.home}
          </ButtonTo>
        )}
      </SignedIn>
    </CardPage>
  );
}

/**
 * The invitations that wait for the user: whoever signs up without the link of one would make an organization instead. Only an address that
 * is confirmed is told.
 */
function Invitations() {
  const { user } = route.useRouteContext();
  const { data = [] } = useQuery({
    queryKey: ['invitation', 'own'],
    queryFn: () => ask(auth.organization.listUserInvitations()),
    enabled: user.emailVerified,
    // One that was declined is not shown again.
    gcTime: 0,
  });
  return data.map(({ id, organizationName }) => (
    <Alert key={id} variant="default">
      <Text className="foreign">{t.invitation.waits(organizationName)}</Text>
      <LinkTo to="/accept-invitation/$id" params={{ id }} size="sm">
        {t.invitation.open}
      </LinkTo>
    </Alert>
  ));
}
