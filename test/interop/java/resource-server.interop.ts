// Spring Boot by the lines of the Admin UI, each version a process of its own.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { TestApi } from '../../flows/api-support.ts';
import { apiOf, check, checkBound, close, type Format, linesOf } from '../support/resource-server.ts';
import { compiled, JVM } from './build.ts';

const MAIN = `package api;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@SpringBootApplication
public class Main {
  public static void main(String[] args) {
    SpringApplication.run(Main.class, args);
  }

  @GetMapping("/")
  String read() {
    return "{}";
  }
}
`;
after(() => close());

for (const version of ['3', '4']) {
  const program = await compiled(`spring-boot-${version}`, 'spring-boot/SpringBootClient.java');
  const lines = async (api: TestApi, format: Format, port: number) => {
    const folder = join(program.folder, 'api-lines');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    write('Main.java', MAIN);
    write('ApiSecurity.java', `package api;\n${await linesOf(api, 'spring-code')}`);
    if (format === 'jwt') write('application.yml', await linesOf(api, 'spring-config'));
    const classPath = `${program.folder}/lib/*`;
    const sources = ['Main.java', 'ApiSecurity.java'].map((name) => join(folder, name));
    execFileSync('javac', ['--release', '17', '-parameters', '-cp', classPath, '-d', folder, ...sources]);
    return {
      command: 'java',
      args: [
        ...JVM,
        '-cp',
        `${folder}:${classPath}`,
        'api.Main',
        `--spring.config.additional-location=file:${folder}/`,
        '--server.address=localhost',
        `--server.port=${port}`,
      ],
    };
  };
  for (const format of ['at+jwt', 'jwt'] as const) {
    test(`Spring Boot ${version}: the lines of the Admin UI, tokens as ${format}`, program, async () => {
      const api = await apiOf(format);
      await check(api, (port) => lines(api, format, port));
    });
    test(`Spring Boot ${version}: the lines of the Admin UI, DPoP, tokens as ${format}`, program, () =>
      checkBound((api, port) => lines(api, format, port), format),
    );
  }
}
