// Draws points by WebGL2: places and colours lie in the graphics memory, and a frame
// changes five numbers.

const VERTEX = `#version 300 es
uniform vec2 centre;
uniform vec2 scale;
uniform float size;
uniform vec3 faint;
uniform sampler2D palette;
in vec2 place;
in uint value;
in uint marked;
out vec4 colour;
void main() {
  colour = texelFetch(palette, ivec2(int(value), 0), 0);
  // In front: what is selected; then classes with a colour; then all others.
  float depth = marked == 1u ? -0.5 : marked == 2u || colour.a <= 0.5 ? 0.5 : 0.0;
  if (marked == 2u) colour = vec4(faint, 0.3);
  gl_Position = vec4((place - centre) * scale, depth, 1.0);
  gl_PointSize = marked == 1u ? size * 1.25 : size;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour;
uniform float size;
out vec4 seen;
void main() {
  float edge = 1.0;
  if (size > 2.5) {
    float far = length(gl_PointCoord - 0.5) * 2.0;
    edge = 1.0 - smoothstep(1.0 - 2.0 / size, 1.0, far);
    if (edge <= 0.0) discard;
  }
  seen = vec4(colour.rgb, 1.0) * (colour.a * edge);
}`;

function shader(gl, kind, source) {
  const made = gl.createShader(kind);
  gl.shaderSource(made, source);
  gl.compileShader(made);
  return made;
}

function program(gl) {
  const made = gl.createProgram();
  gl.attachShader(made, shader(gl, gl.VERTEX_SHADER, VERTEX));
  gl.attachShader(made, shader(gl, gl.FRAGMENT_SHADER, FRAGMENT));
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made) ?? "no program");
  return made;
}

function isSoftware(gl) {
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : gl.getParameter(gl.RENDERER);
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export class WebGlPlot {
  /** Returns null where there is no WebGL2, or the processor would have to play it. */
  static on(canvas, points, { evenSlow = false } = {}) {
    const gl = canvas.getContext("webgl2", { alpha: true, antialias: false, premultipliedAlpha: true });
    if (!gl || (!evenSlow && isSoftware(gl))) return null;
    try {
      return new WebGlPlot(gl, canvas, points);
    } catch {
      return null;
    }
  }

  constructor(gl, canvas, points) {
    this.gl = gl;
    this.canvas = canvas;
    this.points = points;
    this.program = program(gl);
    gl.useProgram(this.program);
    this.uniforms = Object.fromEntries(
      ["centre", "scale", "size", "faint", "palette"].map((name) => [name, gl.getUniformLocation(this.program, name)]),
    );
    this.buffers = {
      place: this.attribute("place", 4 * points.total, (at) => gl.vertexAttribPointer(at, 2, gl.UNSIGNED_SHORT, true, 0, 0)),
      value: this.attribute("value", points.total, (at) => gl.vertexAttribIPointer(at, 1, gl.UNSIGNED_BYTE, 0, 0)),
      marked: this.attribute("marked", points.total, (at) => gl.vertexAttribIPointer(at, 1, gl.UNSIGNED_BYTE, 0, 0)),
    };
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    gl.enable(gl.BLEND);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.uniform1i(this.uniforms.palette, 0);
  }

  attribute(name, bytes, point) {
    const { gl } = this;
    const buffer = gl.createBuffer();
    const at = gl.getAttribLocation(this.program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(at);
    point(at);
    return buffer;
  }

  write(name, offset, data) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferSubData(gl.ARRAY_BUFFER, offset, data);
  }

  /** New points came after the first `from`. */
  added(from) {
    this.write("place", 4 * from, this.points.places.subarray(2 * from, 2 * this.points.count));
  }

  setValues(values) {
    this.write("value", 0, values);
  }

  /** 0: nothing is selected; 1: selected; 2: not selected. */
  setMarks(marks) {
    this.write("marked", 0, marks);
  }

  /** 256 colours of red, green, blue and opacity; and that of what is not selected. */
  setPalette(colours, [red, green, blue]) {
    const { gl } = this;
    gl.uniform3f(this.uniforms.faint, red / 255, green / 255, blue / 255);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, colours);
  }

  /** Draws the first `limit` points, which are a sample of all. */
  draw(camera, size, ratio, limit) {
    const { gl, uniforms } = this;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniform2f(uniforms.centre, camera.x, camera.y);
    gl.uniform2f(uniforms.scale, (2 * camera.scale) / camera.width, (2 * camera.scale) / camera.height);
    gl.uniform1f(uniforms.size, size * ratio);
    gl.drawArrays(gl.POINTS, 0, limit);
  }

  close() {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}
