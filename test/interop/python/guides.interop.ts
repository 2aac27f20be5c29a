// The guides for Python, their lines as the Admin UI shows them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { signInAt, useGuide } from '../support/guide.ts';
import { startIssuer } from '../support/issuer.ts';
import { packages } from './packages.ts';

const libraries = await packages('guides');
const django = await packages('django');
const folder = mkdtempSync(join(tmpdir(), 'latchkey-guides-'));
const issuer = await startIssuer();
after(async () => {
  await issuer.close();
  rmSync(folder, { recursive: true });
});

const place = (name: string): string => {
  const own = join(folder, name);
  mkdirSync(own);
  return own;
};

test('guide: Flask', libraries, async () => {
  const use = await useGuide('guide:flask', issuer);
  const cwd = place('flask');
  use.write(cwd);
  const args = ['-B', '-m', 'flask', 'run', '--port', String(use.port)];
  const env = { FLASK_SECRET_KEY: 'of a test', FLASK_RUN_HOST: 'localhost' };
  const command = join(libraries.folder, 'bin/python');
  await signInAt(use, issuer, { command, args, env, cwd }, { ready: '/login' });
});

test('guide: FastAPI', libraries, async () => {
  const use = await useGuide('guide:fastapi', issuer);
  const cwd = place('fastapi');
  use.write(cwd);
  const args = ['-B', '-m', 'uvicorn', 'main:app', '--host', 'localhost', '--port', String(use.port)];
  const command = join(libraries.folder, 'bin/python');
  await signInAt(use, issuer, { command, args, cwd }, { ready: '/login' });
});

test('guide: Django', django, async () => {
  const use = await useGuide('guide:django', issuer);
  const cwd = place('django');
  const at = use.write(cwd);
  // What `django-admin startproject` makes, in short; the guide's lines are at its end.
  const project = [
    'SECRET_KEY = "of a test"',
    'DEBUG = True',
    'ALLOWED_HOSTS = ["*"]',
    'ROOT_URLCONF = "urls"',
    'INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"]',
    'MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware"]',
    'DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}}',
    'USE_TZ = True',
  ].join('\n');
  writeFileSync(at('settings.py'), `${project}\n${use.lines.get('settings.py')}\n`);
  const python = join(django.folder, 'bin/python');
  const start = `${python} -B -m django migrate --verbosity 0 && exec ${python} -B -m django runserver --noreload localhost:${use.port}`;
  const env = { DJANGO_SETTINGS_MODULE: 'settings', PYTHONPATH: cwd };
  await signInAt(
    use,
    issuer,
    { command: '/bin/sh', args: ['-c', start], env, cwd },
    { see: /grace@example\.com/, ready: '/oidc/authenticate/' },
  );
});
