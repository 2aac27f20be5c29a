// Java programs are built in the cache: Maven brings the jars that the pom names, javac compiles the one class.
import { fileURLToPath } from 'node:url';
import { type Installed, install } from '../support/toolchain.ts';

export const source = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';
export const MAVEN = [
  'env',
  'MAVEN_OPTS=-Xmx512m',
  'mvn',
  '--quiet',
  '--batch-mode',
  '--no-transfer-progress',
] as const;

/** @param java the class's file, by its path from here; the pom lies in the folder `name` */
export function compiled(name: string, java: string): Promise<Installed> {
  const pom = source(`./${name}/pom.xml`);
  const file = source(`./${java}`);
  return install({
    name: `java-${name}`,
    programs: ['mvn', 'java', 'javac'],
    pins: [pom, file],
    commands: () => [
      ['cp', pom, 'pom.xml'],
      [...MAVEN, `${DEPENDENCY_PLUGIN}:copy-dependencies`, '-DincludeScope=runtime', '-DoutputDirectory=lib'],
      ['javac', '--release', '17', '-parameters', '-cp', 'lib/*', '-d', 'classes', file],
    ],
  });
}

/** JVMs start slowly on a busy machine. */
export const JVM_LIMIT_MS = 300_000;

/** Little memory, and a quick start rather than a quick run. */
export const JVM = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'] as const;

/** The arguments of `java` that run it. */
export const inJvm = ({ folder }: Installed, mainClass: string): string[] => [
  ...JVM,
  '-cp',
  `${folder}/classes:${folder}/lib/*`,
  mainClass,
];
