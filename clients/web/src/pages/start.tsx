import { Button, Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { CardPage } from '../components/card-page.tsx';
import { Failure } from '../components/failure.tsx';
import { ButtonTo } from '../components/link-to.tsx';
import { SignedIn } from '../components/signed-in.tsx';
import { useFormTask } from '../components/use-form-task.ts';
import { createOrganization, createWorkspace } from '../create-place.ts';
import { type Organization, organizationsQuery, slugsOf } from '../queries.ts';
import { addSamples } from '../samples.ts';
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
