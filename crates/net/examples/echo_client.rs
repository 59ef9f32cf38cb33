//! An SCTP echo client over UDP: `echo_client ADDRESS:UDP-PORT`.

use headway_net::sctp::{Endpoint, EndpointConfig, Message, Peer};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = std::env::args().nth(1).ok_or("echo_client ADDRESS:PORT")?;
    let endpoint = Endpoint::bind(EndpointConfig::udp(([0, 0, 0, 0], 0).into()))?;
    let association = endpoint.connect(Peer::new(server.parse()?, 7)).await?;
    for number in 0..10_u16 {
        let message = Message {
            stream: number % 4,
            unordered: number % 2 == 1,
            ..Message::new(format!("message {number}"))
        };
        association.send(message).await?;
        let echo = association.recv().await?.ok_or("the server has ended it")?;
        let text = String::from_utf8_lossy(&echo.payload);
        println!("{text} came back on stream {}", echo.stream);
    }
    for path in association.path_stats() {
        println!("{}: round trip {:?}", path.remote, path.status.srtt);
    }
    association.shutdown().await?;
    Ok(())
}
