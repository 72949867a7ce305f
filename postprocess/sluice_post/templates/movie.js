// The slider and the button of a series of slices. The last frame is the picture itself, which is finer than its frame.
for (const figure of document.querySelectorAll("figure.movie")) {
  const [canvas, button, slider, output] = ["canvas", "button", "input", "output"].map((name) => figure.querySelector(name));
  const { times, frames } = JSON.parse(figure.querySelector("script").textContent);
  const images = frames.map((frame) => Object.assign(new Image(), { src: "data:image/webp;base64," + frame }));
  const last = frames.length - 1;
  let timer = 0;

  const show = async () => {
    const n = slider.valueAsNumber;
    output.value = slider.ariaValueText = "t U/h = " + Number(times[n].toPrecision(6));
    if (n < last) await images[n].decode();
    if (n !== slider.valueAsNumber) return;  // moved on meanwhile
    canvas.hidden = n === last;
    if (n < last) canvas.getContext("2d").drawImage(images[n], 0, 0);
  };
  const pause = () => {
    clearInterval(timer);
    timer = 0;
    button.textContent = "▶";
    button.ariaLabel = button.ariaLabel.replace("Pause", "Play");
  };
  const advance = () => {
    slider.value = (slider.valueAsNumber + 1) % frames.length;
    show();
    if (slider.valueAsNumber === last) pause();
  };
  button.onclick = () => {
    if (timer) return pause();
    button.textContent = "❚❚";
    button.ariaLabel = button.ariaLabel.replace("Play", "Pause");
    timer = setInterval(advance, 250);
    advance();
  };
  slider.oninput = () => {
    pause();
    show();
  };
  button.hidden = slider.hidden = false;
}
